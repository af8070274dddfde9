// Symbols that no feed told of since the start stand where the newest stored ticks left them.
import { newest } from '../../market/types/ask.ts';
import { instantIn, numberIn, type Row, textIn } from '../../market/derive/values.ts';
import { TRADES_READ } from '../../market/derive/lastSale.ts';
import type { Tick } from '../../market/live/tick.ts';
import type { Dataset } from '../../store/datasets/datasets.ts';
import { type MarketServices, planNeeds, readPlanned } from '../market/reading.ts';
import { momentNow } from '../read/moments.ts';
import type { Call, Services } from '../request/endpoint.ts';

type RestoringServices = MarketServices & Pick<Services, 'streams'>;

/** @param readable the inputs of ticks that the caller reads */
export async function restoreSymbols(
  symbols: readonly string[],
  readable: ReadonlyMap<string, Dataset>,
  call: Call,
  services: RestoringServices,
): Promise<void> {
  const { board } = services.streams;
  const missing = symbols.filter((symbol) => board.get(symbol) === undefined);
  if (missing.length === 0) return;
  const trades = (symbol: string) => newest('TRADES', symbol, TRADES_READ);
  const quotes = (symbol: string) => newest('QUOTES', symbol, 1);
  const needs = missing.flatMap((symbol) => [trades(symbol), quotes(symbol)]);
  const bare = { ...call, query: {}, path: {} };
  const inputs = (['TRADES', 'QUOTES'] as const).flatMap((input) => {
    const dataset = readable.get(input);
    return dataset === undefined ? [] : [[input, dataset] as const];
  });
  const planned = await planNeeds(bare, services, new Map(inputs), needs, momentNow(services));
  const read = await readPlanned(planned, services, bare);
  for (const symbol of missing) {
    // A feed may have come first.
    if (board.get(symbol) !== undefined) continue;
    board.catchUp([
      ...read(trades(symbol)).flatMap((row) => tradeTick(symbol, row)),
      ...read(quotes(symbol)).flatMap((row) => quoteTick(symbol, row)),
    ]);
  }
}

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
