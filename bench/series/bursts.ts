// Measures bursts of first reads: many connections concurrently request the last records of keys that are not
// cached. The server has no other load, so each refusal is a fault. Then a second account reads beside a
// burst.
import { join } from 'node:path';
import type { Tapedeck } from '../../app/main.ts';
import { createWorkspace } from '../../store/lake/datasetEdits.ts';
import { type DriveResult, openClient } from '../http/clientProcess.ts';
import { getRequests } from '../http/order.ts';
import { type BenchServer, startServer, serveFilled } from '../http/server.ts';
import { median, p99 } from '../base/measure.ts';
import { fillDaily, symbolOf } from '../base/stored.ts';

const CONNECTIONS = [250, 1_000, 2_000] as const;
const KEYS = [200, 2_000] as const;
/** Records per read. */
const LAST = 30;
/** Sequential reads of the second account. */
const BESIDE = 200;

interface Place {
  readonly folder: string;
  /** Token of the second account. */
  readonly token: string;
}

/** Returns a line for each number of connections and keys, each measured on a newly started server. */
export async function benchBursts(folder: string, rows: number): Promise<readonly string[]> {
  const place = join(folder, 'bursts');
  const { content: token, server } = await serveFilled(place, {}, async (tapedeck) => {
    await fillDaily(tapedeck, folder, 'D', rows, Math.max(...KEYS));
    return secondAccount(tapedeck);
  });
  await server[Symbol.asyncDispose]();
  const lines: string[] = [];
  for (const connections of CONNECTIONS) {
    for (const keys of KEYS) {
      await using fresh = await fromStart({ folder: place, token });
      const what = `${connections} connections, ${keys} keys of ${rows} rows`;
      lines.push(`${what}: ${formatResult(await burst(fresh, connections, keys))}`);
    }
  }
  return [...lines, ...(await benchBeside({ folder: place, token }))];
}

const fromStart = ({ folder }: Place): Promise<BenchServer> =>
  startServer({ folder, settings: {}, watch: true });

/** Measures reads of a second account alone and beside a burst of the first. */
async function benchBeside(place: Place): Promise<readonly string[]> {
  const alone = await beside(place, () => Promise.resolve());
  const both = await beside(place, async (server) => {
    await burst(server, Math.max(...CONNECTIONS), Math.max(...KEYS));
  });
  const ratio = p99(both.times) / p99(alone.times);
  return [
    `second account alone: ${formatResult(alone)}`,
    `second account beside ${Math.max(...CONNECTIONS)} connections of the first: ${formatResult(both)}`,
    `p99 beside / alone: ${ratio.toFixed(2)}, target <= 2`,
  ];
}

async function beside(
  place: Place,
  work: (server: BenchServer) => Promise<void>,
): Promise<DriveResult> {
  await using server = await fromStart(place);
  await using client = openClient();
  const keys = Array.from({ length: BESIDE }, (_, at) => symbolOf(at));
  const requests = getRequests(readPaths('W2', keys, place.token));
  const [driven] = await Promise.all([
    client.tryAll(server, { requests, connections: 1, count: BESIDE }),
    work(server),
  ]);
  return driven;
}

async function burst(server: BenchServer, connections: number, keys: number): Promise<DriveResult> {
  await using client = openClient();
  const count = Math.max(connections, keys);
  const names = Array.from({ length: count }, (_, at) => symbolOf(at % keys));
  const requests = getRequests(readPaths('WS', names, server.publishable));
  const driven = await client.tryAll(server, { requests, connections, count });
  return driven;
}

const readPaths = (workspace: string, keys: readonly string[], token: string): readonly string[] =>
  keys.map((key) => `/v1/data/${workspace}/D/${key}?last=${LAST}&token=${token}`);

/** Creates a second account with a dataset of 250 days for each key that it reads; returns its token. */
async function secondAccount({ base, services }: Tapedeck): Promise<string> {
  const accountId = await services.accounts.createAccount('second', 'scale');
  await createWorkspace(services.lake, 'W2', accountId, 0);
  const secret = await services.accounts.createToken(accountId, 'secret');
  const rows = Array.from({ length: BESIDE * 250 }, (_, at) => {
    const day = new Date(Date.UTC(2024, 0, 1 + Math.floor(at / BESIDE)));
    return `${symbolOf(at % BESIDE)},${day.toISOString().slice(0, 10)},${at}`;
  });
  const query = `wait=true&key=symbol&date=date&token=${secret.text}`;
  const body = ['symbol,date,close', ...rows, ''].join('\n');
  const answer = await fetch(`${base}/v1/data/W2/D?${query}`, { method: 'POST', body });
  if (!answer.ok) throw new Error(await answer.text());
  return secret.text;
}

const formatResult = ({ failure, failures, times, tookMs }: DriveResult): string =>
  [
    `${failures} refused${failure === '' ? '' : ` (${failure})`}`,
    `median ${median(times).toFixed(0)} ms`,
    `p99 ${p99(times).toFixed(0)} ms`,
    `all in ${tookMs.toFixed(0)} ms`,
  ].join(', ');
