// Ticks of stored days, as a feed told them: read page by page, at one moment of what is stored.
import { type Publish, LiveBoard } from '../../market/live/liveBoard.ts';
import { instantIn, type Row } from '../../market/derive/values.ts';
import { dayAt } from '../../market/derive/words.ts';
import type { Tick, TickReader } from '../../market/live/tick.ts';
import type { Need } from '../../market/types/ask.ts';
import type { Day } from '../../query/time/days.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import { planNeeds, readPlanned } from '../market/reading.ts';
import { momentNow } from '../read/moments.ts';
import { type Moment, momentText } from '../../store/lake/history/history.ts';
import type { Call } from '../request/endpoint.ts';
import type { StreamServices } from './entitled.ts';
import { inTime, type Placed, placedOf, TICK_INPUTS, type TickInput } from './tickRows.ts';

/** Ticks that a reader holds, of all its lanes: 15 MB. */
const HELD_MAX = 50_000;
/** Records of one page of a lane; a day of one symbol may have any number of pages. */
const PAGE_MOST = 20_000;
/** Ticks that are given at once. */
const TICKS_AT_ONCE = 1_000;
/** Messages of the past that a stream begins with: the newest of them. */
const PAST_MAX = 10_000;

interface Asked {
  readonly from: Day;
  readonly to: Day;
  readonly readable: ReadonlyMap<string, Dataset>;
  /** Whose rights are used; it waits as long as the reader is used. */
  readonly call: Call;
  /** What is written later is not what was there. */
  readonly at: Moment;
  readonly services: StreamServices;
}

/** One symbol of one input, as far as it is read. */
interface Lane {
  readonly input: TickInput;
  readonly symbol: string;
  /** What is not given yet begins at `at`. */
  found: readonly Placed[];
  at: number;
  /** Records that were read. */
  offset: number;
  isWhole: boolean;
}

/** In the order of their times; of one instant prices of books come first, then best offers, then trades. */
export function ticksOf(symbols: readonly string[], asked: Asked): TickReader {
  const { at, call, from, readable, services, to } = asked;
  const pinned = { ...call, query: { asOf: momentText(at) }, path: {} };
  const inputs = TICK_INPUTS.flatMap((input) => {
    const dataset = readable.get(input);
    return dataset === undefined ? [] : [[input, dataset] as const];
  });
  const lanes = inputs.flatMap(([input]) =>
    symbols.map((symbol): Lane => {
      return { input, symbol, found: [], at: 0, offset: 0, isWhole: false };
    }),
  );
  const count = Math.min(PAGE_MOST, Math.floor(HELD_MAX / Math.max(1, lanes.length)));
  const needOf = ({ input, offset, symbol }: Lane): Need => {
    return { input, key: symbol, window: { kind: 'page', from, to, offset, count } };
  };

  async function fill(): Promise<void> {
    for (;;) {
      const empty = lanes.filter((lane) => lane.at >= lane.found.length && !lane.isWhole);
      if (empty.length === 0) return;
      const needs = empty.map(needOf);
      const planned = await planNeeds(pinned, services, new Map(inputs), needs, at);
      const read = await readPlanned(planned, services, pinned);
      for (const lane of empty) turnPage(lane, read(needOf(lane)), count);
    }
  }

  return {
    async next() {
      await fill();
      const ticks: Tick[] = [];
      while (ticks.length < TICKS_AT_ONCE) {
        const lane = firstOf(lanes);
        const found = lane?.found[lane.at];
        if (lane === undefined || found === undefined) break;
        ticks.push(found.tick);
        lane.at += 1;
        // What its next page begins with may come before what the others have.
        if (lane.at >= lane.found.length && !lane.isWhole) break;
      }
      return ticks;
    },
    close: () => undefined,
  };
}

function turnPage(lane: Lane, rows: readonly Row[], count: number): void {
  lane.isWhole = rows.length < count;
  const kept = lane.isWhole ? rows : wholeInstants(rows);
  lane.offset += kept.length;
  lane.found = kept.flatMap((row) => placedOf(lane.input, lane.symbol, row)).sort(inTime);
  lane.at = 0;
}

/** Records of one millisecond have an order that a page does not know: they are on one page. */
function wholeInstants(rows: readonly Row[]): readonly Row[] {
  const last = rows.at(-1);
  if (last === undefined) return rows;
  const timeMs = instantIn(last, 'time');
  const end = rows.findLastIndex((row) => instantIn(row, 'time') !== timeMs) + 1;
  return end === 0 ? rows : rows.slice(0, end);
}

/** The lane whose next tick comes first; of those of one instant the one that stands first. */
function firstOf(lanes: readonly Lane[]): Lane | undefined {
  let [first, before]: [Lane | undefined, Placed | undefined] = [undefined, undefined];
  for (const lane of lanes) {
    const found = lane.found[lane.at];
    if (found === undefined) continue;
    const isFirst =
      before === undefined ||
      found.tick.timeMs < before.tick.timeMs ||
      (found.tick.timeMs === before.tick.timeMs && found.nanoseconds < before.nanoseconds);
    if (isFirst) [first, before] = [lane, found];
  }
  return first;
}

/** A message that was told, or would have been. */
export interface Past {
  readonly symbol: string;
  readonly json: string;
}

/** What a topic told of some symbols since a time, as far as it is stored. */
export async function pastOf(
  topic: string,
  symbols: readonly string[],
  sinceMs: number,
  asked: Omit<Asked, 'at' | 'from' | 'to'>,
): Promise<readonly Past[]> {
  const [from, to] = [dayAt(sinceMs), dayAt(asked.services.clock())];
  const reader = ticksOf(symbols, { ...asked, from, to, at: momentNow(asked.services) });
  let told: Past[] = [];
  const publish: Publish = (of, symbol, make) => {
    const json = of === topic ? make() : undefined;
    if (json !== undefined) told.push({ symbol, json });
  };
  const board = new LiveBoard(publish);
  for (;;) {
    const ticks = await reader.next();
    if (ticks.length === 0) return told;
    const news = ticks.findIndex(({ timeMs }) => timeMs >= sinceMs);
    const begin = news < 0 ? ticks.length : news;
    board.catchUp(ticks.slice(0, begin));
    for (const tick of ticks.slice(begin)) board.apply(tick);
    told = told.slice(-PAST_MAX);
  }
}
