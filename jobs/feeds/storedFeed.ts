// Publishes records written into TRADES, QUOTES and BOOK of CORE, by pushes, loads and feeds of others, as
// ticks: they are applied to the board and sent to subscribers. Changed and deleted records are corrected on
// the board.
import { type Play, pause } from './feed.ts';
import type { Row } from '../../market/derive/values.ts';
import { compareWithKept } from '../../market/live/liveTrades.ts';
import type { Tick } from '../../market/live/tick.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { isPlaceholder } from '../../store/lake/datasets/placeholders.ts';
import { backgroundRequest, ownerCaller } from '../../reads/rights/backgroundRequest.ts';
import { currentMoment } from '../../reads/series/moments.ts';
import { type Change, type RecordReader, WRITTEN_MAX } from '../../reads/live/recordWatches.ts';
import { Corrections } from '../../reads/streams/corrections.ts';
import { readEndedKeys } from '../../reads/streams/deletions.ts';

import type { StreamServices } from '../../reads/streams/streamAccess.ts';
import { UNCHANGED_RECORD } from '../../reads/market/money/recordShapes.ts';
import { createWrittenReader } from '../../reads/streams/writtenRecords.ts';
import { restore, ticksName } from '../../reads/streams/boardRecovery.ts';
import {
  compareTime,
  type Placed,
  toPlacedTicks,
  TICK_INPUTS,
  type TickInput,
} from '../../reads/streams/tickRows.ts';

/** Interval of checks for another dataset to follow, and for pending corrections. */
const CHECK_INTERVAL_MS = 1_000;
/** Ticks published before the event loop is yielded: 2 ms. */
const YIELD_AFTER_TICKS = 1_000;

/** A followed input. */
interface FollowedInput {
  readonly corrections: Corrections;
  readonly placedOf: (record: Row) => readonly Placed[];
  /** The dataset was seen to be missing: all of its records are new. */
  wasAbsent: boolean;
  tableId: number | undefined;
}

export function storedFeed(services: StreamServices): Play {
  let wake = (): void => undefined;
  const followed = new Map<TickInput, FollowedInput>();
  // A dataset is followed from its first record on.
  services.lake.onChange(({ tableIds }) => {
    for (const [input, { tableId }] of followed) {
      const dataset = findFollowable(input, services);
      if (dataset === undefined || dataset.tableId === tableId) continue;
      if (tableIds.includes(dataset.tableId)) wake();
    }
  });
  return async ({ onReady, onTicks, signal }) => {
    for (const input of TICK_INPUTS) {
      const corrections = new Corrections(input, services);
      const placed = (record: Row): readonly Placed[] =>
        toPlacedTicks(input, String(record['symbol']), record);
      followed.set(input, { corrections, placedOf: placed, wasAbsent: false, tableId: undefined });
    }
    while (!signal.aborted) {
      const woken = new AbortController();
      wake = (): void => woken.abort();
      for (const [input, one] of followed)
        await checkInput(input, one, { onTicks, services, signal });
      onReady();
      await pause(CHECK_INTERVAL_MS, AbortSignal.any([signal, woken.signal]));
    }
  };
}

/** Finds the dataset of an input; the synthetic exchange publishes its own ticks. */
function findFollowable(input: TickInput, { lake }: StreamServices): Dataset | undefined {
  const dataset = lake.directory.dataset(CORE, input);
  return dataset === undefined || isPlaceholder(dataset) ? undefined : dataset;
}

interface FollowContext {
  readonly onTicks: (count: number) => void;
  readonly services: StreamServices;
  readonly signal: AbortSignal;
}

async function checkInput(
  input: TickInput,
  one: FollowedInput,
  following: FollowContext,
): Promise<void> {
  const { services } = following;
  const { records } = services.streams;
  const dataset = findFollowable(input, services);
  if (dataset === undefined) {
    [one.wasAbsent, one.tableId] = [true, undefined];
    return;
  }
  const { tableId } = dataset;
  if (one.tableId !== tableId) {
    await follow(dataset, one, following);
    [one.wasAbsent, one.tableId] = [false, tableId];
    // Publishes records written until now.
    records.scheduleReads([tableId]);
  } else if (one.corrections.isWaiting) records.scheduleReads([tableId]);
}

async function follow(
  dataset: Dataset,
  { corrections, placedOf, wasAbsent }: FollowedInput,
  { onTicks, services, signal }: FollowContext,
): Promise<void> {
  const { accounts, lake, streams } = services;
  const accountId = lake.directory.workspace(CORE)?.accountId ?? '';
  const account = accounts.account(accountId);
  if (account === undefined) return;
  const { tableId } = dataset;
  const call = backgroundRequest(ownerCaller(account, accountId));
  const written = createWrittenReader(dataset, UNCHANGED_RECORD, call, services);
  const begins = await streams.records.follow({
    name: ticksName(dataset),
    tableId,
    reader: {
      begin: async () => (wasAbsent ? 'nothing' : currentMoment(services)),
      since: withEndedKeys(dataset, written, services),
    },
    isWanted: () => !signal.aborted,
    onChange: async (change) => {
      const tickCount = await publishChange(
        change,
        {
          corrections,
          placedOf,
        },
        services,
      );
      await corrections.settle(change.moment);
      onTicks(tickCount);
    },
  });
  // Earlier states, of other feeds or of an earlier moment, differ from the stored ones.
  if (begins) streams.board.clear();
}

const withEndedKeys =
  ({ tableId }: Dataset, written: RecordReader, services: StreamServices): RecordReader['since'] =>
  async (before) => {
    const change = await written.since(before);
    const current = services.lake.directory.datasetById(tableId);
    if (before === 'nothing' || current === undefined) return change;
    return { ...change, endedKeys: await readEndedKeys(current, before, services) };
  };

/** Publishes a change. @returns the number of ticks */
async function publishChange(
  { endedKeys, records }: Change,
  { corrections, placedOf }: Pick<FollowedInput, 'corrections' | 'placedOf'>,
  services: StreamServices,
): Promise<number> {
  const { board } = services.streams;
  // So many records at once are a loaded day, not live ticks.
  if (records.length >= WRITTEN_MAX || endedKeys === 'any') {
    corrections.forget();
    return 0;
  }
  for (const symbol of endedKeys ?? []) corrections.add(symbol);
  const placed = records.flatMap(({ json }) => placedOf(JSON.parse(json) as Row));
  const ticks = placed.sort(compareTime).map(({ tick }) => tick);
  for (let at = 0; at < ticks.length; at += YIELD_AFTER_TICKS) {
    const chunk = ticks.slice(at, at + YIELD_AFTER_TICKS);
    await restore([...new Set(chunk.map(({ symbol }) => symbol))], services);
    for (const tick of chunk) {
      const kind = classifyTick(tick, services);
      if (kind === 'news') board.apply(tick);
      else if (kind === 'wrong') corrections.add(tick.symbol);
    }
    await new Promise(setImmediate);
  }
  return ticks.length;
}

/**
 * Classifies a tick. A record older than the last tick of its symbol corrects the past and is not published.
 * One that the board has already restored from stored records is `known`. `wrong`: the symbol has to be read
 * again.
 */
function classifyTick(
  tick: Tick,
  { streams: { board } }: StreamServices,
): 'news' | 'known' | 'wrong' {
  const live = board.get(tick.symbol);
  if (live === undefined) return 'news';
  if (tick.kind === 'trade') {
    const match = compareWithKept(live, tick);
    if (match !== undefined) return match === 'same' ? 'known' : 'wrong';
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
