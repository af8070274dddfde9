// What is written into TRADES, QUOTES and BOOK of CORE, by pushes, loads and feeds of others, are ticks like
// those that a feed tells: the board follows them, and whoever listens hears them. What is changed or deleted
// there is corrected on the board.
import { type Play, pause } from '../../jobs/feeds/feed.ts';
import type { Row } from '../../market/derive/values.ts';
import { knownAs } from '../../market/live/liveTrades.ts';
import type { Tick } from '../../market/live/tick.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { isStandIn } from '../../store/lake/datasets/standIns.ts';
import { callOf, ownerOf } from '../auth/standingCall.ts';
import { momentNow } from '../read/moments.ts';
import { type Change, type RecordReader, WRITTEN_MAX } from '../sse/recordWatches.ts';
import { Corrections } from './corrections.ts';
import { keysGoneSince } from './deletions.ts';
import type { StreamServices } from './entitled.ts';
import { WHOLE } from '../market/money/recordShapes.ts';
import { writtenReader } from './recordStreams.ts';
import { restore, ticksName } from './restored.ts';
import { inTime, type Placed, placedOf, TICK_INPUTS, type TickInput } from './tickRows.ts';

/** How often it is looked whether there is another dataset to follow, or anything to be read anew. */
const LOOK_MS = 1_000;
/** Ticks that are told in one turn of the loop: 2 ms. */
const TURN_TICKS = 1_000;

/** One input while it is followed. */
interface Followed {
  readonly corrections: Corrections;
  readonly placedOf: (record: Row) => readonly Placed[];
  /** It was seen that there are no records of its owner: whatever comes is news. */
  wasAbsent: boolean;
  tableId: number | undefined;
}

export function storedFeed(services: StreamServices): Play {
  let wake = (): void => undefined;
  const followed = new Map<TickInput, Followed>();
  // A dataset is followed from its first record on.
  services.lake.onChange(({ tableIds }) => {
    for (const [input, { tableId }] of followed) {
      const dataset = there(input, services);
      if (dataset === undefined || dataset.tableId === tableId) continue;
      if (tableIds.includes(dataset.tableId)) wake();
    }
  });
  return async ({ onReady, onTicks, signal }) => {
    for (const input of TICK_INPUTS) {
      const corrections = new Corrections(input, services);
      const placed = (record: Row): readonly Placed[] =>
        placedOf(input, String(record['symbol']), record);
      followed.set(input, { corrections, placedOf: placed, wasAbsent: false, tableId: undefined });
    }
    while (!signal.aborted) {
      const woken = new AbortController();
      wake = (): void => woken.abort();
      for (const [input, one] of followed) await look(input, one, { onTicks, services, signal });
      onReady();
      await pause(LOOK_MS, AbortSignal.any([signal, woken.signal]));
    }
  };
}

/** Those of the synthetic exchange are told by itself. */
function there(input: TickInput, { lake }: StreamServices): Dataset | undefined {
  const dataset = lake.directory.dataset(CORE, input);
  return dataset === undefined || isStandIn(dataset) ? undefined : dataset;
}

interface Following {
  readonly onTicks: (count: number) => void;
  readonly services: StreamServices;
  readonly signal: AbortSignal;
}

async function look(input: TickInput, one: Followed, following: Following): Promise<void> {
  const { services } = following;
  const { records } = services.streams;
  const dataset = there(input, services);
  if (dataset === undefined) {
    [one.wasAbsent, one.tableId] = [true, undefined];
    return;
  }
  const { tableId } = dataset;
  if (one.tableId !== tableId) {
    await follow(dataset, one, following);
    [one.wasAbsent, one.tableId] = [false, tableId];
    // What came until now.
    records.changed([tableId]);
  } else if (one.corrections.isWaiting) records.changed([tableId]);
}

async function follow(
  dataset: Dataset,
  { corrections, placedOf, wasAbsent }: Followed,
  { onTicks, services, signal }: Following,
): Promise<void> {
  const { accounts, lake, streams } = services;
  const accountId = lake.directory.workspace(CORE)?.accountId ?? '';
  const account = accounts.account(accountId);
  if (account === undefined) return;
  const { tableId } = dataset;
  const call = callOf(ownerOf(account, accountId));
  const written = writtenReader(dataset, WHOLE, call, services);
  const begins = await streams.records.follow({
    name: ticksName(dataset),
    tableId,
    reader: {
      begin: async () => (wasAbsent ? 'nothing' : momentNow(services)),
      since: withGone(dataset, written, services),
    },
    isWanted: () => !signal.aborted,
    tell: async (change) => {
      const told = await tellChange(
        change,
        {
          corrections,
          placedOf,
        },
        services,
      );
      await corrections.settle(change.moment);
      onTicks(told);
    },
  });
  // What was told before by others, or read of an earlier moment, is not what is stored by now.
  if (begins) streams.board.clear();
}

const withGone =
  ({ tableId }: Dataset, written: RecordReader, services: StreamServices): RecordReader['since'] =>
  async (before) => {
    const change = await written.since(before);
    const current = services.lake.directory.datasetById(tableId);
    if (before === 'nothing' || current === undefined) return change;
    return { ...change, gone: await keysGoneSince(current, before, services) };
  };

/** @returns how many ticks there were */
async function tellChange(
  { gone, records }: Change,
  { corrections, placedOf }: Pick<Followed, 'corrections' | 'placedOf'>,
  services: StreamServices,
): Promise<number> {
  const { board } = services.streams;
  // So many at once are a day that is loaded, and no news.
  if (records.length >= WRITTEN_MAX || gone === 'any') {
    corrections.forget();
    return 0;
  }
  for (const symbol of gone ?? []) corrections.add(symbol);
  const placed = records.flatMap(({ json }) => placedOf(JSON.parse(json) as Row));
  const ticks = placed.sort(inTime).map(({ tick }) => tick);
  for (let at = 0; at < ticks.length; at += TURN_TICKS) {
    const some = ticks.slice(at, at + TURN_TICKS);
    await restore([...new Set(some.map(({ symbol }) => symbol))], services);
    for (const tick of some) {
      const is = newsOf(tick, services);
      if (is === 'news') board.apply(tick);
      else if (is === 'wrong') corrections.add(tick.symbol);
    }
    await new Promise(setImmediate);
  }
  return ticks.length;
}

/**
 * A record of before what its symbol was last told of corrects the past: nobody hears it as a tick. One that
 * the board read from what is stored, when somebody asked for its symbol, is known. `wrong`: what is told of
 * the symbol has to be read anew.
 */
function newsOf(tick: Tick, { streams: { board } }: StreamServices): 'news' | 'known' | 'wrong' {
  const live = board.get(tick.symbol);
  if (live === undefined) return 'news';
  if (tick.kind === 'trade') {
    const known = knownAs(live, tick);
    if (known !== undefined) return known === 'same' ? 'known' : 'wrong';
    if (tick.timeMs >= (live.trades.at(-1)?.timeMs ?? 0)) return 'news';
    return board.addLate(tick) ? 'known' : 'wrong';
  }
  if (tick.kind === 'level') return tick.timeMs >= live.bookMs ? 'news' : 'wrong';
  if (tick.kind !== 'quote' || tick.timeMs !== live.quotedMs) {
    return tick.timeMs > live.quotedMs ? 'news' : 'known';
  }
  const { askPrice, askSize, bidPrice, bidSize } = tick;
  const { quoted } = live;
  const isOther =
    askPrice !== quoted.askPrice ||
    askSize !== quoted.askSize ||
    bidPrice !== quoted.bidPrice ||
    bidSize !== quoted.bidSize;
  return isOther ? 'news' : 'known';
}
