// The securities of the market from reference data (INTERFACE.md 1 "ref-data"): those of SYMBOLS that are
// valid today; if that is not loaded, those of COMPANY.
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Day } from '../../query/time/days.ts';
import { holds, type Row, textIn } from '../derive/values.ts';

export interface Security {
  readonly symbol: string;
  readonly exchange: string | null;
  readonly exchangeSuffix: string | null;
  readonly exchangeName: string | null;
  readonly exchangeSegment: string | null;
  readonly exchangeSegmentName: string | null;
  readonly name: string | null;
  /** The day of the answer. */
  readonly date: Day;
  readonly type: string | null;
  /** Constant for a symbol. */
  readonly iexId: string;
  readonly region: string | null;
  readonly currency: string | null;
  readonly isEnabled: boolean;
  readonly figi: string | null;
  readonly cik: string | null;
  readonly lei: string | null;
}

/** Securities that are built in one turn of the event loop: 4 ms. */
export const TURN_SECURITIES = 2_000;

/**
 * By their symbols.
 * @param sources records of SYMBOLS, of COMPANY and of prices: the first one with a symbol describes it
 */
export async function buildSecurities(
  [symbols, companies, prices]: readonly [readonly Row[], readonly Row[], readonly Row[]],
  today: Day,
): Promise<readonly Security[]> {
  const bySymbol = new Map<string, Security>();
  const take = async (rows: readonly Row[], describes: boolean): Promise<void> => {
    for (const [at, row] of rows.entries()) {
      const symbol = textIn(row, 'symbol')?.toUpperCase();
      if (symbol === undefined || symbol === '') continue;
      if (describes) bySymbol.set(symbol, securityOf(symbol, row, today));
      else if (!bySymbol.has(symbol)) bySymbol.set(symbol, securityOf(symbol, {}, today));
      if (at % TURN_SECURITIES === TURN_SECURITIES - 1) await othersTurn();
    }
  };
  await take(
    symbols.filter((row) => holds(row, today)),
    true,
  );
  await take(companies, true);
  await take(prices, false);
  return [...bySymbol.keys()].sort().flatMap((symbol) => bySymbol.get(symbol) ?? []);
}

/** @param row of SYMBOLS, or of COMPANY */
export function securityOf(symbol: string, row: Row, today: Day): Security {
  const { isEnabled } = row;
  const exchange = textIn(row, 'exchange');
  return {
    symbol,
    exchange,
    exchangeSuffix: textIn(row, 'exchangeSuffix'),
    exchangeName: textIn(row, 'exchangeName') ?? exchange,
    exchangeSegment: textIn(row, 'exchangeSegment') ?? exchange,
    exchangeSegmentName: textIn(row, 'exchangeSegmentName') ?? textIn(row, 'exchangeName'),
    name: textIn(row, 'name') ?? textIn(row, 'securityName') ?? textIn(row, 'companyName'),
    date: today,
    type: textIn(row, 'type') ?? textIn(row, 'issueType'),
    iexId: idOf(symbol),
    region: textIn(row, 'region') ?? textIn(row, 'country'),
    currency: textIn(row, 'currency'),
    isEnabled: isEnabled !== false,
    figi: textIn(row, 'figi'),
    cik: textIn(row, 'cik'),
    lei: textIn(row, 'lei'),
  };
}

/** Sixteen hexadecimal digits, by FNV-1a of the symbol and of its reverse. */
function idOf(symbol: string): string {
  let [forth, back] = [0x811c9dc5, 0x811c9dc5];
  for (let at = 0; at < symbol.length; at += 1) {
    forth = Math.imul(forth ^ symbol.charCodeAt(at), 0x01000193);
    back = Math.imul(back ^ symbol.charCodeAt(symbol.length - 1 - at), 0x01000193);
  }
  const digits = [forth, back].map((half) => (half >>> 0).toString(16).padStart(8, '0'));
  return `IEX_${digits.join('').toUpperCase()}`;
}
