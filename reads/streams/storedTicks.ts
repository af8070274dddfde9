// Reads ticks of stored days page by page, at one moment of the stored data.
import { type Publish, LiveBoard } from '../../market/live/liveBoard.ts';
import { instantIn, type Row } from '../../market/derive/values.ts';
import { dayAt } from '../../market/derive/exchangeTime.ts';
import type { Tick, TickReader } from '../../market/live/tick.ts';
import type { Need } from '../../market/types/typeRequest.ts';
import type { Day } from '../../query/time/days.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { planNeeds, runReadPlan } from '../market/inputReads.ts';
import { currentMoment } from '../series/moments.ts';
import { type Moment, formatMoment } from '../../store/lake/history/history.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { StreamServices } from './streamAccess.ts';
import {
  compareTime,
  type Placed,
  toPlacedTicks,
  TICK_INPUTS,
  type TickInput,
} from './tickRows.ts';

/** Maximum buffered ticks of all lanes of a reader: 15 MB. */
const BUFFERED_MAX = 50_000;
/** Maximum records of one page of a lane; a day of one symbol may have any number of pages. */
const PAGE_MAX = 20_000;
/** Maximum ticks of one call of `next`. */
const BATCH_SIZE = 1_000;
/** Maximum past messages that a stream starts with; the latest are kept. */
const PAST_MAX = 10_000;

interface TickRequest {
  readonly from: Day;
  readonly to: Day;
  readonly readable: ReadonlyMap<string, Dataset>;
  /** The call whose rights are used, valid as long as the reader. */
  readonly call: ReadRequest;
  /** The moment of the read: later records are excluded. */
  readonly at: Moment;
  readonly services: StreamServices;
}

/** The read state of one symbol of one input. */
interface Lane {
  readonly input: TickInput;
  readonly symbol: string;
  /** Ticks of the current page; those from `at` on are not returned yet. */
  page: readonly Placed[];
  at: number;
  /** Number of records read. */
  offset: number;
  isWhole: boolean;
}

/** Reads ticks in the order of time; of one instant book levels come first, then quotes, then trades. */
export function createTickReader(symbols: readonly string[], request: TickRequest): TickReader {
  const { at, call, from, readable, services, to } = request;
  const pinned = { ...call, query: { asOf: formatMoment(at) }, path: {} };
  const inputs = TICK_INPUTS.flatMap((input) => {
    const dataset = readable.get(input);
    return dataset === undefined ? [] : [[input, dataset] as const];
  });
  const lanes = inputs.flatMap(([input]) =>
    symbols.map((symbol): Lane => {
      return { input, symbol, page: [], at: 0, offset: 0, isWhole: false };
    }),
  );
  const count = Math.min(PAGE_MAX, Math.floor(BUFFERED_MAX / Math.max(1, lanes.length)));
  const needOf = ({ input, offset, symbol }: Lane): Need => {
    return { input, key: symbol, window: { kind: 'page', from, to, offset, count } };
  };

  async function fill(): Promise<void> {
    for (;;) {
      const empty = lanes.filter((lane) => lane.at >= lane.page.length && !lane.isWhole);
      if (empty.length === 0) return;
      const needs = empty.map(needOf);
      const planned = await planNeeds(pinned, services, new Map(inputs), needs, at);
      const read = await runReadPlan(planned, services, pinned);
      for (const lane of empty) turnPage(lane, read(needOf(lane)), count);
    }
  }

  return {
    async next() {
      await fill();
      const ticks: Tick[] = [];
      while (ticks.length < BATCH_SIZE) {
        const lane = findFirst(lanes);
        const placed = lane?.page[lane.at];
        if (lane === undefined || placed === undefined) break;
        ticks.push(placed.tick);
        lane.at += 1;
        // The next page may begin before the ticks of other lanes.
        if (lane.at >= lane.page.length && !lane.isWhole) break;
      }
      return ticks;
    },
    close: () => undefined,
  };
}

function turnPage(lane: Lane, rows: readonly Row[], count: number): void {
  lane.isWhole = rows.length < count;
  const pageRows = lane.isWhole ? rows : wholeInstants(rows);
  lane.offset += pageRows.length;
  lane.page = pageRows
    .flatMap((row) => toPlacedTicks(lane.input, lane.symbol, row))
    .sort(compareTime);
  lane.at = 0;
}

/** Cuts a page between milliseconds, because records of one millisecond are ordered only within a page. */
function wholeInstants(rows: readonly Row[]): readonly Row[] {
  const last = rows.at(-1);
  if (last === undefined) return rows;
  const timeMs = instantIn(last, 'time');
  const end = rows.findLastIndex((row) => instantIn(row, 'time') !== timeMs) + 1;
  return end === 0 ? rows : rows.slice(0, end);
}

/** Finds the lane with the earliest next tick; of equal ones the first lane. */
function findFirst(lanes: readonly Lane[]): Lane | undefined {
  let [first, before]: [Lane | undefined, Placed | undefined] = [undefined, undefined];
  for (const lane of lanes) {
    const placed = lane.page[lane.at];
    if (placed === undefined) continue;
    const isFirst =
      before === undefined ||
      placed.tick.timeMs < before.tick.timeMs ||
      (placed.tick.timeMs === before.tick.timeMs && placed.nanoseconds < before.nanoseconds);
    if (isFirst) [first, before] = [lane, placed];
  }
  return first;
}

/** A past message. */
export interface Past {
  readonly symbol: string;
  readonly json: string;
}

/** Rebuilds the messages of a topic for some symbols since a time, from stored ticks. */
export async function readPastMessages(
  topic: string,
  symbols: readonly string[],
  sinceMs: number,
  request: Omit<TickRequest, 'at' | 'from' | 'to'>,
): Promise<readonly Past[]> {
  const [from, to] = [dayAt(sinceMs), dayAt(request.services.clock())];
  const reader = createTickReader(symbols, {
    ...request,
    from,
    to,
    at: currentMoment(request.services),
  });
  let messages: Past[] = [];
  const publish: Publish = (of, symbol, make) => {
    const json = of === topic ? make() : undefined;
    if (json !== undefined) messages.push({ symbol, json });
  };
  const board = new LiveBoard(publish);
  for (;;) {
    const ticks = await reader.next();
    if (ticks.length === 0) return messages;
    const firstNew = ticks.findIndex(({ timeMs }) => timeMs >= sinceMs);
    const begin = firstNew < 0 ? ticks.length : firstNew;
    board.catchUp(ticks.slice(0, begin));
    for (const tick of ticks.slice(begin)) board.apply(tick);
    messages = messages.slice(-PAST_MAX);
  }
}
