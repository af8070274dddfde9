// Reads the last days of the whole market, and computes quotes of many symbols.
import { BOARD_DAYS, buildBoard, type SymbolDays } from '../../market/board/board.ts';
import { dayIn as dayOfRow } from '../../market/derive/values.ts';
import {
  type TypeRequest,
  between,
  type Need,
  newest,
  type Read,
} from '../../market/types/typeRequest.ts';
import { marketType } from '../../market/types/marketTypes.ts';
import { addDays, type Day } from '../../query/time/days.ts';
import { Failure } from '../../store/base/failure.ts';
import type { ReadRequest } from '../request/readRequest.ts';

export interface MarketRequest {
  readonly call: ReadRequest;
  readonly typeRequest: TypeRequest;
  readonly read: (needs: readonly Need[]) => Promise<Read>;
}

/** Reads the last two days of every symbol, up to a day. */
export async function readBoard(
  { typeRequest, read }: MarketRequest,
  upTo: Day = typeRequest.today,
): Promise<readonly SymbolDays[]> {
  const last = newest('HISTORICAL_PRICES', '', 1);
  const row = (await read([last]))(last).at(-1);
  if (row === undefined) return [];
  const newestDay = dayOfRow(row, 'date');
  const to = newestDay < upTo ? newestDay : upTo;
  const days = between('HISTORICAL_PRICES', '', addDays(to, -BOARD_DAYS), to);
  const splits = between('SPLITS', '', addDays(to, -BOARD_DAYS), typeRequest.today);
  const rowsFor = await read([days, splits]);
  return buildBoard(rowsFor(days), rowsFor(splits), typeRequest.today);
}

/** Symbols whose quotes are computed from one read: with 150 the memory of a read process was not enough. */
const QUOTES_BATCH_SIZE = 50;

/** Computes quotes in the order of the symbols; symbols without data are left out. */
export async function computeQuotes(
  { typeRequest, read }: MarketRequest,
  symbols: readonly string[],
): Promise<readonly object[]> {
  const quote = marketType('quote');
  if (quote === undefined) throw new Failure('NotFound');
  const quotes: object[] = [];
  for (let at = 0; at < symbols.length; at += QUOTES_BATCH_SIZE) {
    const chunk = symbols.slice(at, at + QUOTES_BATCH_SIZE);
    const typeRequests = chunk.map((symbol) => ({ ...typeRequest, symbol }));
    const rowsFor = await read(typeRequests.flatMap((one) => quote.needs(one)));
    for (const one of typeRequests) {
      const value = quote.answer(one, rowsFor);
      if (typeof value === 'object' && value !== null) quotes.push(value);
    }
  }
  return quotes;
}
