// Reads the last days of the whole market, and computes quotes of many symbols.
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

/** Reads the last two days of every symbol, up to a day. */
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
  const rowsFor = await read([days, splits]);
  return boardOf(rowsFor(days), rowsFor(splits), ask.today);
}

/** Symbols whose quotes are computed from one read: with 150 the memory of a read process was not enough. */
const QUOTES_BATCH_SIZE = 50;

/** Computes quotes in the order of the symbols; symbols without data are left out. */
export async function quotesOf(
  { ask, read }: AskedOfAll,
  symbols: readonly string[],
): Promise<readonly object[]> {
  const quote = marketType('quote');
  if (quote === undefined) throw new Failure('NotFound');
  const quotes: object[] = [];
  for (let at = 0; at < symbols.length; at += QUOTES_BATCH_SIZE) {
    const chunk = symbols.slice(at, at + QUOTES_BATCH_SIZE);
    const typeRequests = chunk.map((symbol) => ({ ...ask, symbol }));
    const rowsFor = await read(typeRequests.flatMap((one) => quote.needs(one)));
    for (const one of typeRequests) {
      const value = quote.answer(one, rowsFor);
      if (typeof value === 'object' && value !== null) quotes.push(value);
    }
  }
  return quotes;
}
