// Records of the inputs of ticks, as the ticks that they were.
import { instantIn, numberIn, type Row, textIn } from '../../market/derive/values.ts';
import type { Tick } from '../../market/live/tick.ts';

/** Inputs that ticks are told of; of one instant those of the first come first. */
export const TICK_INPUTS = ['BOOK', 'QUOTES', 'TRADES'] as const;
export type TickInput = (typeof TICK_INPUTS)[number];

/** A tick, and its place among those of its millisecond. */
export interface Placed {
  readonly tick: Tick;
  /** Of its time, beyond the milliseconds. */
  readonly nanoseconds: number;
  /** Of the same instant the one that was told first has the lower one. */
  readonly order: number;
}

/** None for a record that says nothing. */
export const placedOf = (input: TickInput, symbol: string, row: Row): readonly Placed[] =>
  TICKS[input](symbol, row).map((tick) => ({
    tick,
    nanoseconds: numberIn(row, 'nanoseconds') ?? 0,
    order: Number(row['sequence'] ?? row['tradeId'] ?? 0) || 0,
  }));

export const inTime = (one: Placed, other: Placed): number =>
  one.tick.timeMs - other.tick.timeMs ||
  one.nanoseconds - other.nanoseconds ||
  one.order - other.order;

/** None where it has no price or time. */
function tradeTick(symbol: string, row: Row): readonly Tick[] {
  const [price, timeMs] = [numberIn(row, 'price'), instantIn(row, 'time')];
  if (price === null || Number.isNaN(timeMs)) return [];
  const is = (name: string): boolean => row[name] === true;
  return [
    {
      kind: 'trade',
      symbol,
      timeMs,
      price,
      size: numberIn(row, 'size') ?? 0,
      tradeId: String(row['tradeId'] ?? ''),
      venue: textIn(row, 'venue') ?? undefined,
      isOddLot: is('isOddLot'),
      isISO: is('isISO'),
      isOutsideRegularHours: is('isOutsideRegularHours'),
      isSinglePriceCross: is('isSinglePriceCross'),
      isTradeThroughExempt: is('isTradeThroughExempt'),
    },
  ];
}

function quoteTick(symbol: string, row: Row): readonly Tick[] {
  const timeMs = instantIn(row, 'time');
  if (Number.isNaN(timeMs)) return [];
  const of = (name: string): number => numberIn(row, name) ?? 0;
  return [
    {
      kind: 'quote',
      symbol,
      timeMs,
      bidPrice: of('bidPrice'),
      bidSize: of('bidSize'),
      askPrice: of('askPrice'),
      askSize: of('askSize'),
    },
  ];
}

function levelTick(symbol: string, row: Row): readonly Tick[] {
  const [price, timeMs] = [numberIn(row, 'price'), instantIn(row, 'time')];
  const side = textIn(row, 'side')?.toLowerCase();
  const isSide = side === 'bid' || side === 'ask';
  if (price === null || !isSide || Number.isNaN(timeMs)) return [];
  const [size, isPart] = [numberIn(row, 'size') ?? 0, row['isPart'] === true];
  return [{ kind: 'level', symbol, timeMs, side, price, size, isPart }];
}

const TICKS: Readonly<Record<TickInput, (symbol: string, row: Row) => readonly Tick[]>> = {
  BOOK: levelTick,
  QUOTES: quoteTick,
  TRADES: tradeTick,
};
