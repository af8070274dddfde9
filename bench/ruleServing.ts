// Rules in a server: how long a tick takes to a local receiver, beside a bare POST; and what 20,000 ticks a
// second through 10,000 rules do to the reads beside them.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Tapedeck } from '../app/main.ts';
import { dayIn } from '../query/time/dates.ts';
import { addDays } from '../query/time/days.ts';
import { bringIn, loaded, pathsOf } from './hot/hotReads.ts';
import { median, p99, type Ratio, rounded } from './measure.ts';
import { fillDaily, startBench, symbolOf, tokenOf } from './stored.ts';

const ALERTS = 300;
const SYMBOLS = 500;
const DAYS = 250;
/** With the one of the deliveries as many as an account may hold. */
const RULES = 9_999;
const TICKS_A_SECOND = 20_000;
/** Ticks come so often, those of a millisecond together. */
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

/** A day of each symbol: without one a rule knows nothing of it. */
async function fillBars(tapedeck: Tapedeck): Promise<void> {
  const secret = await tokenOf(tapedeck, 'secret');
  const day = addDays(dayIn(Date.now(), tapedeck.services.settings.zone), -1);
  const rows = Array.from({ length: SYMBOLS }, (_, at) => `${symbolOf(at)},${day},1,1,1,1,100`);
  const csv = `symbol,date,open,high,low,close,volume\n${rows.join('\n')}\n`;
  await post(tapedeck, secret, '/data/CORE/HISTORICAL_PRICES?wait=true', csv);
}

let trades = 0;

function tick({ services }: Tapedeck, symbol: string, price: number): void {
  trades += 1;
  const told = { kind: 'trade', symbol, price, size: 100, tradeId: String(trades) } as const;
  services.streams.board.apply({ ...told, timeMs: Date.now() });
}

/** One tick after the other, each of another symbol; and as many bare POSTs to the same receiver. */
async function deliveries(tapedeck: Tapedeck): Promise<Ratio> {
  let heard: () => void = () => undefined;
  const receiver = createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      response.end('ok');
      heard();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const secret = await tokenOf(tapedeck, 'secret');
  const rule = {
    ...{ ruleSet: 'ANYEVENT', type: 'all', ruleName: 'above two' },
    conditions: [['latestPrice', '>', 2]],
    outputs: [{ method: 'webhook', frequency: 3_600, url }],
  };
  await post(tapedeck, secret, '/rules/create', JSON.stringify(rule));
  for (let at = 0; at < ALERTS; at += 1) tick(tapedeck, symbolOf(at), 1);
  await tapedeck.services.rules.settled();
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let at = 0; at < ALERTS; at += 1) {
    ours.push(
      await msUntil((done) => {
        heard = done;
        tick(tapedeck, symbolOf(at), 3);
      }),
    );
    bare.push(
      await msUntil((done) => {
        heard = done;
        request(url, { method: 'POST', agent: false }, (answer) => answer.resume()).end('{}');
      }),
    );
  }
  receiver.closeAllConnections();
  receiver.close();
  return {
    bench: 'rules: p99 of a bare POST, to that of a tick and its webhook',
    ratio: rounded(p99(bare) / p99(ours)),
    target: '>= 0.33',
    pairs: ALERTS,
    oursMs: rounded(p99(ours)),
    bareMs: rounded(p99(bare)),
    note: `median ${rounded(median(ours))} and ${rounded(median(bare))} ms`,
  };
}

async function msUntil(begin: (done: () => void) => void): Promise<number> {
  const fromMs = performance.now();
  await new Promise<void>(begin);
  return performance.now() - fromMs;
}

async function readsBeside(tapedeck: Tapedeck, folder: string, pairs: number): Promise<Ratio> {
  await fillDaily(tapedeck, folder, 'D', DAYS * SYMBOLS, SYMBOLS);
  const token = await tokenOf(tapedeck, 'publishable');
  const windows = { dataset: 'D', symbols: SYMBOLS, records: 30, days: DAYS, token };
  const list = join(folder, 'rules.paths');
  await bringIn(tapedeck, pathsOf(windows), list);
  const secret = await tokenOf(tapedeck, 'secret');
  for (let at = 0; at < RULES; at += 1) {
    const conditions = [
      ['latestPrice', '>', 90 + (at % 200) / 10],
      ['changePercent', '<', -0.9999],
    ];
    const rule = {
      ...{ ruleSet: symbolOf(at % SYMBOLS), type: 'all', ruleName: `r${at}`, conditions },
      outputs: [{ method: 'logs', frequency: 60 }],
    };
    await post(tapedeck, secret, '/rules/create', JSON.stringify(rule)).catch((error: unknown) => {
      throw new Error(`rule ${at}: ${String(error)}`);
    });
  }
  const port = Number(new URL(tapedeck.base).port);
  const [beside, alone]: [number[], number[]] = [[], []];
  for (let pair = 0; pair < pairs; pair += 1) {
    alone.push((await loaded(port, list)).p99);
    const stop = ticking(tapedeck);
    beside.push((await loaded(port, list)).p99);
    stop();
  }
  return {
    bench: `rules: p99 of hot reads alone, to beside ${TICKS_A_SECOND} ticks a second and ${RULES} rules`,
    ratio: rounded(median(alone) / median(beside)),
    target: '>= 0.83',
    pairs,
    oursMs: rounded(median(beside)),
    bareMs: rounded(median(alone)),
    note: 'p99 of 32 connections of one client process, which keeps the server busy',
  };
}

function ticking(tapedeck: Tapedeck): () => void {
  let at = 0;
  let due = 0;
  const fromMs = performance.now();
  const timer = setInterval(() => {
    due = ((performance.now() - fromMs) / 1_000) * TICKS_A_SECOND;
    for (; at < due; at += 1) tick(tapedeck, symbolOf(at % SYMBOLS), 90 + ((at * 7) % 200) / 10);
  }, EVERY_MS);
  return () => clearInterval(timer);
}
