// Records of the inputs of ticks, as the ticks that they were.
import { instantIn, numberIn, type Row, textIn } from '../../market/derive/values.ts';
import type { Tick } from '../../market/live/tick.ts';

/** A record of the input TRADES; none where it has no price or time. */
export function tradeTick(symbol: string, row: Row): readonly Tick[] {
  const [price, timeMs] = [numberIn(row, 'price'), instantIn(row, 'time')];
  if (price === null || Number.isNaN(timeMs)) return [];
  const is = (name: string): boolean => row[name] === true;
  return [
    {
      ...{ kind: 'trade', symbol, timeMs, price, size: numberIn(row, 'size') ?? 0 },
      ...{ tradeId: String(row['tradeId'] ?? ''), venue: textIn(row, 'venue') ?? undefined },
      ...{ isOddLot: is('isOddLot'), isISO: is('isISO') },
      isOutsideRegularHours: is('isOutsideRegularHours'),
      isSinglePriceCross: is('isSinglePriceCross'),
      isTradeThroughExempt: is('isTradeThroughExempt'),
    },
  ];
}

/** A record of the input QUOTES. */
export function quoteTick(symbol: string, row: Row): readonly Tick[] {
  const timeMs = instantIn(row, 'time');
  if (Number.isNaN(timeMs)) return [];
  const of = (name: string): number => numberIn(row, name) ?? 0;
  return [
    {
      ...{ kind: 'quote', symbol, timeMs },
      ...{ bidPrice: of('bidPrice'), bidSize: of('bidSize') },
      ...{ askPrice: of('askPrice'), askSize: of('askSize') },
    },
  ];
}
