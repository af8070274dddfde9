// Converts records of tick inputs to ticks.
import { instantIn, numberIn, type Row, textIn } from '../../market/derive/values.ts';
import type { Tick } from '../../market/live/tick.ts';

/** Inputs of ticks; of one instant, ticks of the first input come first. */
export const TICK_INPUTS = ['BOOK', 'QUOTES', 'TRADES'] as const;
export type TickInput = (typeof TICK_INPUTS)[number];

/** A tick with its order within its millisecond. */
export interface Placed {
  readonly tick: Tick;
  /** The part of its time below a millisecond. */
  readonly nanoseconds: number;
  /** The order of ticks of the same instant. */
  readonly order: number;
}

/** Converts a record to ticks; none for an incomplete record. */
export const toPlacedTicks = (input: TickInput, symbol: string, row: Row): readonly Placed[] =>
  TICKS[input](symbol, row).map((tick) => ({
    tick,
    nanoseconds: numberIn(row, 'nanoseconds') ?? 0,
    order: Number(row['sequence'] ?? row['tradeId'] ?? 0) || 0,
  }));

export const compareTime = (one: Placed, other: Placed): number =>
  one.tick.timeMs - other.tick.timeMs ||
  one.nanoseconds - other.nanoseconds ||
  one.order - other.order;

/** Converts a trade; none without price or time. */
function tradeTick(symbol: string, row: Row): readonly Tick[] {
  const [price, timeMs] = [numberIn(row, 'price'), instantIn(row, 'time')];
  if (price === null || Number.isNaN(timeMs)) return [];
  const isSet = (name: string): boolean => row[name] === true;
  return [
    {
      kind: 'trade',
      symbol,
      timeMs,
      price,
      size: numberIn(row, 'size') ?? 0,
      tradeId: String(row['tradeId'] ?? ''),
      venue: textIn(row, 'venue') ?? undefined,
      isOddLot: isSet('isOddLot'),
      isISO: isSet('isISO'),
      isOutsideRegularHours: isSet('isOutsideRegularHours'),
      isSinglePriceCross: isSet('isSinglePriceCross'),
      isTradeThroughExempt: isSet('isTradeThroughExempt'),
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
