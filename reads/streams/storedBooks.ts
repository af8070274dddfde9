// Reads current books from stored changes: the last change of each price of a symbol's latest day, selected
// with SQL, since a day has some hundred times more changes than prices.
import { instantIn, type Row, textIn } from '../../market/derive/values.ts';
import { endOfToday, startOfToday } from '../../market/derive/exchangeTime.ts';
import type { Tick } from '../../market/live/tick.ts';
import { type Moment, formatMoment } from '../../store/lake/history/history.ts';
import { aggregateInput } from '../market/aggregates.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { StreamServices } from './streamAccess.ts';
import { compareTime, type Placed, toPlacedTicks } from './tickRows.ts';

interface LatestRow {
  /** The requested symbol; the owner may use another spelling. */
  readonly symbol: string;
  readonly row: Row;
}

/**
 * Reads books.
 * @param newest the latest record of each symbol
 * @param at the moment of these records
 * @returns levels by symbol, oldest first
 */
export async function storedBooks(
  newest: readonly LatestRow[],
  call: ReadRequest,
  services: StreamServices,
  at: Moment,
): Promise<ReadonlyMap<string, readonly Tick[]>> {
  const pinned = { ...call, query: { asOf: formatMoment(at) } };
  const days = Map.groupBy(newest, ({ row }) => startOfToday(instantIn(row, 'time')));
  const placedBySymbol = new Map<string, Placed[]>();
  for (const [startMs, all] of days) {
    const symbolsBySpelling = new Map(
      all.map(({ row, symbol }) => [textIn(row, 'symbol') ?? '', symbol]),
    );
    const levels = await aggregateInput(pinned, services, 'BOOK', (spell) =>
      buildLevelsSql(spell, [...symbolsBySpelling.keys()], startMs),
    );
    // Adds the time of the last change, even if it removed a price: no price is 0.
    const last = all.map(({ row }): Row => ({ ...row, price: 0, size: 0 }));
    for (const row of [...levels, ...last]) {
      const symbol = symbolsBySpelling.get(textIn(row, 'symbol') ?? '') ?? '';
      const own = placedBySymbol.get(symbol) ?? [];
      placedBySymbol.set(symbol, own);
      own.push(...toPlacedTicks('BOOK', symbol, { ...row, isPart: false }));
    }
  }
  return new Map(
    [...placedBySymbol].map(([symbol, placed]) => [
      symbol,
      placed.sort(compareTime).map(({ tick }) => tick),
    ]),
  );
}

function buildLevelsSql(
  spell: (name: string) => string,
  symbols: readonly string[],
  startMs: number,
): string {
  const [symbol, side, price, size] = ['symbol', 'side', 'price', 'size'].map(spell);
  const [time, nanoseconds, sequence] = ['time', 'nanoseconds', 'sequence'].map(spell);
  const [from, to] = [startMs, endOfToday(startMs)].map((ms) => new Date(ms).toISOString());
  const order = `${time} DESC, ${nanoseconds} DESC, TRY_CAST(${sequence} AS BIGINT) DESC`;
  const names = symbols.map((name) => `'${name.replaceAll("'", "''")}'`).join(', ');
  return (
    `SELECT * FROM (SELECT ${symbol} AS symbol, lower(${side}) AS side, ${price} AS price, ` +
    `${size} AS size, ${time} AS time, ${nanoseconds} AS nanoseconds, ${sequence} AS sequence ` +
    `FROM ${spell('BOOK')} WHERE ${symbol} IN (${names}) ` +
    `AND ${time} >= '${from}' AND ${time} < '${to}' QUALIFY row_number() OVER ` +
    `(PARTITION BY ${symbol}, lower(${side}), ${price} ORDER BY ${order}) = 1) AS levels WHERE size > 0`
  );
}
