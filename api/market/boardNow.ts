// What is asked of the whole market, its last days, and quotes of those who are found in them.
import { BOARD_DAYS, boardOf, type Standing } from '../../market/board/board.ts';
import { dayIn as dayOfRow } from '../../market/derive/values.ts';
import { type Ask, between, type Need, newest, type Read } from '../../market/types/ask.ts';
import { marketType } from '../../market/types/marketTypes.ts';
import { addDays, type Day } from '../../query/time/days.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Call } from '../request/endpoint.ts';

export interface AskedOfAll {
  readonly call: Call;
  readonly ask: Ask;
  readonly read: (needs: readonly Need[]) => Promise<Read>;
}

/** The last two days of every symbol, up to a day. */
export async function boardNow(
  { ask, read }: AskedOfAll,
  upTo: Day = ask.today,
): Promise<readonly Standing[]> {
  const last = newest('HISTORICAL_PRICES', '', 1);
  const row = (await read([last]))(last).at(-1);
  if (row === undefined) return [];
  const newestDay = dayOfRow(row, 'date');
  const to = newestDay < upTo ? newestDay : upTo;
  const days = between('HISTORICAL_PRICES', '', addDays(to, -BOARD_DAYS), to);
  const splits = between('SPLITS', '', addDays(to, -BOARD_DAYS), ask.today);
  const found = await read([days, splits]);
  return boardOf(found(days), found(splits), ask.today);
}

/** Symbols whose quotes are made of one read: with 150 the memory of a read process was not enough. */
const QUOTES_TOGETHER = 50;

/** In their order; nothing for those of whom nothing is known. */
export async function quotesOf(
  { ask, read }: AskedOfAll,
  symbols: readonly string[],
): Promise<readonly object[]> {
  const quote = marketType('quote');
  if (quote === undefined) throw new Failure('NotFound');
  const quotes: object[] = [];
  for (let at = 0; at < symbols.length; at += QUOTES_TOGETHER) {
    const together = symbols.slice(at, at + QUOTES_TOGETHER);
    const asks = together.map((symbol) => ({ ...ask, symbol }));
    const found = await read(asks.flatMap((one) => quote.needs(one)));
    for (const one of asks) {
      const value = quote.answer(one, found);
      if (typeof value === 'object' && value !== null) quotes.push(value);
    }
  }
  return quotes;
}
