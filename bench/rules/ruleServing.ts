// Measures rules in a server: the time from a tick to its webhook at a local receiver against a bare POST,
// and the effect of 20,000 ticks a second through 10,000 rules on concurrent reads.
import type { ChildProcess } from 'node:child_process';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Tapedeck } from '../../app/main.ts';
import { dayIn } from '../../query/time/dates.ts';
import { addDays } from '../../query/time/days.ts';
import { warmCache, CONNECTIONS, driveReads, readPaths } from '../hot/hotReads.ts';
import { requestChild, endChild, forkChild } from '../http/childRequests.ts';
import { byP99, openClient } from '../http/clientProcess.ts';
import type { RequestSpec } from '../http/order.ts';
import { serveInProcess } from '../http/server.ts';
import { p99, type Pair, type Ratio, computeRatio, type Measurement } from '../base/measure.ts';
import { fillDaily, startBench, symbolOf, findToken } from '../base/stored.ts';

const ALERTS = 300;
const SYMBOLS = 500;
const DAYS = 250;
/** With the rule of the deliveries, the maximum of an account. */
const RULES = 9_999;
const TICKS_A_SECOND = 20_000;
/** Interval of ticks; those due in one interval are applied together. */
const EVERY_MS = 1;

export async function benchRuleServing(folder: string, pairs: number): Promise<readonly Ratio[]> {
  const settings = { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' };
  const tapedeck = await startBench(join(folder, 'rules'), settings);
  try {
    await fillBars(tapedeck);
    return [await deliveries(tapedeck), await readsBeside(tapedeck, folder, pairs)];
  } finally {
    await tapedeck.close();
  }
}

async function post(
  { base }: Pick<Tapedeck, 'base'>,
  secret: string,
  path: string,
  body: string,
): Promise<string> {
  const headers = { authorization: `Bearer ${secret}` };
  const answer = await fetch(`${base}/v1${path}`, { method: 'POST', headers, body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}

/** Loads a day of each symbol, because a rule needs a bar of its symbol. */
async function fillBars(tapedeck: Tapedeck): Promise<void> {
  const secret = await findToken(tapedeck, 'secret');
  const day = addDays(dayIn(Date.now(), tapedeck.services.settings.zone), -1);
  const rows = Array.from({ length: SYMBOLS }, (_, at) => `${symbolOf(at)},${day},1,1,1,1,100`);
  const csv = `symbol,date,open,high,low,close,volume\n${rows.join('\n')}\n`;
  await post(tapedeck, secret, '/data/CORE/HISTORICAL_PRICES?wait=true', csv);
}

let trades = 0;

function tick({ services }: Tapedeck, symbol: string, price: number): void {
  trades += 1;
  const trade = { kind: 'trade', symbol, price, size: 100, tradeId: String(trades) } as const;
  services.streams.board.apply({ ...trade, timeMs: Date.now() });
}

/** Measures sequential ticks of different symbols, and as many bare POSTs to the same receiver. */
async function deliveries(tapedeck: Tapedeck): Promise<Ratio> {
  await using stack = new AsyncDisposableStack();
  const receiver = forkChild('../rules/ruleReceiver.ts');
  stack.defer(() => endChild(receiver));
  const url = `http://127.0.0.1:${await requestChild<number>(receiver)}/`;
  const secret = await findToken(tapedeck, 'secret');
  const rule = {
    ruleSet: 'ANYEVENT',
    type: 'all',
    ruleName: 'above two',
    conditions: [['latestPrice', '>', 2]],
    outputs: [
      {
        method: 'webhook',
        frequency: 3600,
        url,
      },
    ],
  };
  await post(tapedeck, secret, '/rules/create', JSON.stringify(rule));
  for (let at = 0; at < ALERTS; at += 1) tick(tapedeck, symbolOf(at), 1);
  await tapedeck.services.rules.settled();
  const postBare = (): void => {
    request(url, { method: 'POST', agent: false }, (answer) => answer.resume()).end('{}');
  };
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let at = 0; at < ALERTS; at += 1) {
    ours.push(await msUntilArrival(receiver, () => tick(tapedeck, symbolOf(at), 3)));
    bare.push(await msUntilArrival(receiver, postBare));
  }
  const bench = {
    name: 'rules: p99 of a bare POST, to that of a tick and its webhook',
    target: '>= 0.33',
    pairs: ALERTS,
  };
  const toMeasurement = (times: readonly number[]): Measurement => ({ ms: p99(times), times });
  return computeRatio(bench, [{ ours: toMeasurement(ours), bare: toMeasurement(bare) }]);
}

async function msUntilArrival(receiver: ChildProcess, begin: () => void): Promise<number> {
  const arrival = requestChild<bigint>(receiver);
  const from = process.hrtime.bigint();
  begin();
  return Number((await arrival) - from) / 1e6;
}

async function readsBeside(tapedeck: Tapedeck, folder: string, pairs: number): Promise<Ratio> {
  await fillDaily(tapedeck, folder, 'D', DAYS * SYMBOLS, SYMBOLS);
  const server = await serveInProcess(tapedeck);
  await using client = openClient();
  const { publishable: token } = server;
  const paths = readPaths({ dataset: 'D', symbols: SYMBOLS, records: 30, days: DAYS, token });
  await warmCache(client, server, paths);
  const requests = Array.from({ length: RULES }, (_, at) => ruleRequest(at, server.secret));
  await client.drive(server, { requests, connections: 1, count: RULES });
  const rounds: Pair[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const bare = byP99(await driveReads(client, server, paths));
    const stop = startTicks(tapedeck);
    rounds.push({ ours: byP99(await driveReads(client, server, paths)), bare });
    stop();
  }
  const bench = {
    name: `rules: p99 of hot reads alone, to beside ${TICKS_A_SECOND} ticks a second and ${RULES} rules`,
    target: '>= 0.83',
    pairs,
  };
  const note = `p99 of ${CONNECTIONS} connections, which keep the server busy; its process makes the ticks`;
  return { ...computeRatio(bench, rounds), note };
}

function ruleRequest(at: number, secret: string): RequestSpec {
  const conditions = [
    ['latestPrice', '>', 90 + (at % 200) / 10],
    ['changePercent', '<', -0.9999],
  ];
  const rule = {
    ruleSet: symbolOf(at % SYMBOLS),
    type: 'all',
    ruleName: `r${at}`,
    conditions,
    outputs: [
      {
        method: 'logs',
        frequency: 60,
      },
    ],
  };
  const headers = { authorization: `Bearer ${secret}` };
  return { path: '/v1/rules/create', method: 'POST', headers, body: JSON.stringify(rule) };
}

function startTicks(tapedeck: Tapedeck): () => void {
  let at = 0;
  let due = 0;
  const fromMs = performance.now();
  const timer = setInterval(() => {
    due = ((performance.now() - fromMs) / 1_000) * TICKS_A_SECOND;
    for (; at < due; at += 1) tick(tapedeck, symbolOf(at % SYMBOLS), 90 + ((at * 7) % 200) / 10);
  }, EVERY_MS);
  return () => clearInterval(timer);
}
