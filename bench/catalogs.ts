// One server on PostgreSQL against one on SQLite: pushes, commits of small loads, and hot reads, which memory
// answers over either. PostgreSQL syncs as it does by default.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Tapedeck } from '../app/main.ts';
import { startPostgres } from '../test/servers/postgres.ts';
import { pushLoad } from './life.ts';
import { type Ratio, ratioOf, rounded, timed } from './measure.ts';
import { fillDaily, send, startBench, symbolOf, tokenOf } from './stored.ts';

const ROWS = 100_000;
/** Connections that push or load one thing after the other. */
const CLIENTS = 16;
const PUSHES = 4_000;
const LOADS = 30;
const READ_SECONDS = 4;

export async function benchCatalogs(folder: string, pairs: number): Promise<readonly Ratio[]> {
  await using stack = new AsyncDisposableStack();
  const postgres = await startPostgres('fsync = on\n');
  if (postgres === undefined) throw new Error('PostgreSQL is not on this machine');
  stack.use(postgres);
  const login = `${postgres.user}:${encodeURIComponent(postgres.password)}`;
  const url = `postgres://${login}@127.0.0.1:${postgres.port}/postgres`;
  const started = async (name: string, settings = {}): Promise<Tapedeck> => {
    const tapedeck = await startBench(join(folder, name), settings);
    stack.defer(() => tapedeck.close());
    await fillDaily(tapedeck, folder, 'D', ROWS);
    return tapedeck;
  };
  const ours = await started('there', { TAPEDECK_DATABASE: url });
  const bare = await started('here');
  const paths = join(folder, 'paths');
  const compared = (
    name: string,
    target: string,
    work: (tapedeck: Tapedeck, round: number) => Promise<number>,
  ): Promise<Ratio> =>
    ratioOf(
      { name: `catalog in PostgreSQL against SQLite: ${name}`, target, pairs },
      (round) => work(ours, round),
      (round) => work(bare, round),
    );
  return [
    await compared(`${PUSHES} pushes of ${CLIENTS} clients`, '>= 0.5', pushes),
    await compared(`${LOADS} small loads, one after the other`, '>= 0.5', loads),
    await compared('hot reads, last 30 of a key', '>= 0.95', (tapedeck) => read(tapedeck, paths)),
    await compared('500 pushes a second: p99', 'none', async (tapedeck, round) => {
      const date = `2051-01-${String(10 + round)}`;
      return (await pushLoad(tapedeck, 'D', date, 500, 6)).p99;
    }),
  ];
}

async function pushes(tapedeck: Tapedeck, round: number): Promise<number> {
  const token = await tokenOf(tapedeck, 'secret');
  const url = `${tapedeck.base}/v1/record/WS/D?duplicateKeyHandling=replace&token=${token}`;
  let next = 0;
  const client = async (): Promise<void> => {
    for (let at = next++; at < PUSHES; at = next++) {
      const date = `2052-01-${String(10 + round)}`;
      const body = `{"symbol":"${symbolOf(at)}","date":"${date}","close":${at}.5}`;
      const answer = await fetch(url, { method: 'POST', body });
      if (!answer.ok) throw new Error(await answer.text());
      await answer.arrayBuffer();
    }
  };
  return timed(() => Promise.all(Array.from({ length: CLIENTS }, client)));
}

const loads = (tapedeck: Tapedeck, round: number): Promise<number> =>
  timed(async () => {
    for (let at = 0; at < LOADS; at += 1) {
      const date = new Date(Date.UTC(2060, round, 1 + at)).toISOString().slice(0, 10);
      await send(tapedeck, 'L', `symbol,date,close\nA,${date},1.5\nB,${date},2.5\n`);
    }
  });

/** Milliseconds of a thousand answers. */
async function read(tapedeck: Tapedeck, paths: string): Promise<number> {
  const token = await tokenOf(tapedeck, 'publishable');
  const asked = Array.from(
    { length: 500 },
    (_, at) => `/v1/time-series/D/${symbolOf(at)}?last=30&token=${token}`,
  );
  await writeFile(paths, asked.join('\n'));
  const script = new URL('./hot/httpLoad.ts', import.meta.url).pathname;
  const { port } = new URL(tapedeck.base);
  const parts = [script, port, String(READ_SECONDS), '8', paths];
  const { stdout } = await promisify(execFile)(process.execPath, parts);
  const { perSecond } = JSON.parse(stdout) as { readonly perSecond: number };
  return rounded(1_000_000 / perSecond);
}
