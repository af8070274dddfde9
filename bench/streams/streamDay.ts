// Streams a day of 100 million messages at the pace of an hour per minute, with concurrent reads. Measures
// the effect on the reads, and that every message arrives.
import { join } from 'node:path';
import type { Tapedeck } from '../../app/main.ts';
import { warmCache, driveReads, readPaths, SECONDS } from '../hot/hotReads.ts';
import { byP99, openClient } from '../http/clientProcess.ts';
import { serveInProcess } from '../http/server.ts';
import { median, type Pair, type Ratio, computeRatio, roundFigure } from '../base/measure.ts';
import { fillDaily, startBench } from '../base/stored.ts';
import { expectMessages, startReaders } from './readers.ts';

const MESSAGES_OF_DAY = 100_000_000;
const SPEED = 60;
const READERS = 200;
const SYMBOLS = 100;
/** Readers per symbol. */
const OF_SYMBOL = READERS / 10;
/** Interval of ticks; those due in one interval are applied together. */
const EVERY_MS = 1;
const STORED = { symbols: 500, days: 250, records: 30 };

/** Messages per second at that speed: 69,444. */
const A_SECOND = (MESSAGES_OF_DAY / 86_400) * SPEED;
/** Longer than one drive of the reads. */
const SECONDS_OF_TICKS = SECONDS + 2;
const TICKS = Math.floor((A_SECOND / OF_SYMBOL) * SECONDS_OF_TICKS);

export async function benchStreamDay(folder: string, pairs: number): Promise<readonly Ratio[]> {
  const tapedeck = await startBench(join(folder, 'stream-day'));
  await tapedeck.services.accounts.changeAccount(tapedeck.accountId, { tier: 'scale' });
  const { days, records, symbols } = STORED;
  await fillDaily(tapedeck, folder, 'D', days * symbols, symbols);
  const server = await serveInProcess(tapedeck);
  await using client = openClient();
  const { port, publishable: token } = server;
  const paths = readPaths({ dataset: 'D', symbols, records, days, token });
  await warmCache(client, server, paths);
  const readers = await startReaders(port, '/v1/last', token, READERS);
  const rounds: Pair[] = [];
  const late: number[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const bare = byP99(await driveReads(client, server, paths));
    // Never resolves unless all messages arrive.
    const done = await expectMessages(readers, TICKS * OF_SYMBOL);
    const ticks = runTicks(tapedeck);
    rounds.push({ ours: byP99(await driveReads(client, server, paths)), bare });
    await ticks;
    late.push((await done()).p99);
  }
  readers.kill();
  await tapedeck.close();
  const lateness = `the p99 of how late a message is: ${roundFigure(median(late))} ms`;
  const pace = `${Math.round(A_SECOND)} messages a second to ${READERS} streams`;
  const bench = {
    name: `p99 of hot reads alone, to beside 100 M messages a day at ${SPEED}x`,
    target: '>= 0.5',
    pairs,
  };
  const note = `${lateness}; ${pace}; the server's process makes the messages too`;
  return [{ ...computeRatio(bench, rounds), note }];
}

/** Applies all ticks of a round at their pace. */
async function runTicks({ services }: Tapedeck): Promise<void> {
  const perSecond = TICKS / SECONDS_OF_TICKS;
  const began = performance.now();
  for (let at = 0; at < TICKS;) {
    const due = Math.min(TICKS, Math.floor(((performance.now() - began) / 1_000) * perSecond));
    for (; at < due; at += 1) {
      services.streams.board.apply({
        kind: 'trade',
        symbol: `S${at % SYMBOLS}`,
        price: at + 1,
        size: 100,
        tradeId: String(at),
        timeMs: Date.now(),
      });
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
