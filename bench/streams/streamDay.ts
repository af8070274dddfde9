// Streams a day of 100 million messages at the pace of an hour per minute, with concurrent reads. Measures
// the effect on the reads, and that every message arrives.
import { join } from 'node:path';
import type { Tapedeck } from '../../app/main.ts';
import { bringIn, keepBusy, pathsOf, SECONDS } from '../hot/hotReads.ts';
import { byP99, openClient } from '../http/clientProcess.ts';
import { servedHere } from '../http/served.ts';
import { median, type Pair, type Ratio, ratioOfPairs, rounded } from '../base/measure.ts';
import { fillDaily, startBench } from '../base/stored.ts';
import { expecting, readersOf } from './readers.ts';

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
  const server = await servedHere(tapedeck);
  await using client = openClient();
  const { port, publishable: token } = server;
  const paths = pathsOf({ dataset: 'D', symbols, records, days, token });
  await bringIn(client, server, paths);
  const readers = await readersOf(port, '/v1/last', token, READERS);
  const rounds: Pair[] = [];
  const late: number[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const bare = byP99(await keepBusy(client, server, paths));
    // Never resolves unless all messages arrive.
    const done = await expecting(readers, TICKS * OF_SYMBOL);
    const told = ticking(tapedeck);
    rounds.push({ ours: byP99(await keepBusy(client, server, paths)), bare });
    await told;
    late.push((await done()).p99);
  }
  readers.kill();
  await tapedeck.close();
  const lateness = `the p99 of how late a message is: ${rounded(median(late))} ms`;
  const pace = `${Math.round(A_SECOND)} messages a second to ${READERS} streams`;
  const bench = {
    name: `p99 of hot reads alone, to beside 100 M messages a day at ${SPEED}x`,
    target: '>= 0.5',
    pairs,
  };
  const note = `${lateness}; ${pace}; the server's process makes the messages too`;
  return [{ ...ratioOfPairs(bench, rounds), note }];
}

/** Applies all ticks of a round at their pace. */
async function ticking({ services }: Tapedeck): Promise<void> {
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
