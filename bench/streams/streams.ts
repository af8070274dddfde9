// Measures streams against one write per message and reader: the maximum throughput of both, the delay at a
// tenth of the simple way's throughput, and the memory of an idle reader.
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { cpuSince } from '../http/cpuTime.ts';
import {
  median,
  type Pair,
  type Ratio,
  computeRatio,
  type Measurement,
  measureMs,
} from '../base/measure.ts';
import { startBench, findToken } from '../base/stored.ts';
import { startNaive } from './naive.ts';
import { expectMessages, type Lateness, startReaders } from './readers.ts';

const READERS = 1_000;
const SYMBOLS = 100;
/** Readers per symbol. */
const OF_SYMBOL = READERS / 10;
const TICKS = 10_000;
/** Ticks per turn of the event loop. */
const BURST = 100;
const LATE_SECONDS = 4;
const IDLE = 10_000;
const IDLE_OF_ACCOUNT = 2_000;

interface Side {
  readonly publish: (symbol: string, price: number) => void;
  readonly listeners: ChildProcess;
}

export async function benchStreams(
  folder: string,
  pairs: number,
): Promise<readonly (Ratio | string)[]> {
  const tapedeck = await startBench(join(folder, 'streams'));
  const naive = await startNaive();
  const { accounts, streams } = tapedeck.services;
  await accounts.changeAccount(tapedeck.accountId, { tier: 'scale' });
  const token = await findToken(tapedeck, 'publishable');
  const port = Number(new URL(tapedeck.base).port);
  const ours: Side = {
    listeners: await startReaders(port, '/v1/last', token, READERS),
    publish: (symbol, price) =>
      streams.board.apply({
        kind: 'trade',
        symbol,
        price,
        size: 100,
        tradeId: String(price),
        timeMs: Date.now(),
      }),
  };
  let seq = 0;
  const theirs: Side = {
    listeners: await startReaders(naive.port, '/last', '', READERS),
    publish: (symbol, price) =>
      naive.publish(symbol, { symbol, price, size: 100, time: Date.now(), seq: (seq += 1) }),
  };
  const rounds: Pair[] = [];
  for (let round = 0; round <= pairs; round += 1) {
    const pair = { bare: await fastest(theirs), ours: await fastest(ours) };
    if (round > 0) rounds.push(pair);
  }
  // A tenth of the simple way's throughput per second.
  const perSecond = 100 / median(rounds.map(({ bare }) => bare.ms));
  const late = {
    theirs: await measureLateness(theirs, perSecond),
    ours: await measureLateness(ours, perSecond),
  };
  for (const side of [ours, theirs]) side.listeners.kill();
  await naive.close();
  const idle = await idleBytes(port, tapedeck);
  await tapedeck.close();
  const bench = {
    name: `a message to ${OF_SYMBOL} of ${READERS} readers`,
    target: '>= 3 times one write for each message and reader',
    pairs,
  };
  const note =
    'milliseconds a message, all readers in one process; both sides in the process of the ticks';
  return [
    { ...computeRatio(bench, rounds), note },
    JSON.stringify({
      bench: 'p99 at a tenth of that, ms',
      target: '<= 2 times',
      ours: late.ours.p99,
      oursP50: late.ours.p50,
      theirs: late.theirs.p99,
      theirsP50: late.theirs.p50,
      perSecond: Math.round(perSecond),
    }),
    JSON.stringify({
      bench: `memory of ${IDLE} idle readers, bytes each`,
      target: '<= 20,000',
      bytes: idle,
    }),
  ];
}

/** Measures the time per message until all readers have all messages. */
async function fastest({ listeners, publish }: Side): Promise<Measurement> {
  const done = await expectMessages(listeners, TICKS * OF_SYMBOL);
  const spent = process.cpuUsage();
  let lateness: Lateness | undefined;
  const tookMs = await measureMs(async () => {
    for (let at = 0; at < TICKS; at += 1) {
      publish(`S${at % SYMBOLS}`, at + 1);
      if (at % BURST === BURST - 1) await new Promise(setImmediate);
    }
    lateness = await done();
  });
  const clientCpuMs = (lateness?.cpuMs ?? 0) / TICKS;
  return { ms: tookMs / TICKS, cpuMs: cpuSince(spent) / TICKS, clientCpuMs };
}

/** Measures the delay of messages at a rate, and the readers' processor time. */
async function measureLateness({ listeners, publish }: Side, perSecond: number): Promise<Lateness> {
  const ticks = Math.floor(perSecond * LATE_SECONDS);
  const done = await expectMessages(listeners, ticks * OF_SYMBOL);
  const began = performance.now();
  for (let at = 0; at < ticks;) {
    const due = Math.min(ticks, Math.floor(((performance.now() - began) / 1_000) * perSecond));
    for (; at < due; at += 1) publish(`S${at % SYMBOLS}`, at + 1);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return done();
}

/** Measures the memory of this process per idle reader. */
async function idleBytes(
  port: number,
  { services }: Awaited<ReturnType<typeof startBench>>,
): Promise<number> {
  const settledRss = async (): Promise<number> => {
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    globalThis.gc?.();
    return process.memoryUsage().rss;
  };
  const before = await settledRss();
  const readers: ChildProcess[] = [];
  for (let at = 0; at < IDLE; at += IDLE_OF_ACCOUNT) {
    const accountId = await services.accounts.createAccount(`idle ${at}`, 'scale');
    const { text } = await services.accounts.createToken(accountId, 'publishable');
    readers.push(await startReaders(port, '/v1/tops', text, IDLE_OF_ACCOUNT));
  }
  const after = await settledRss();
  for (const reader of readers) reader.kill();
  return Math.round((after - before) / IDLE);
}
