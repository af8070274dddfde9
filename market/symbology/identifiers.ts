// Identifiers of securities besides their tickers (INTERFACE.md 3.6): FIGI, ISIN, CUSIP and CIK, found by the
// records of input SYMBOLS.
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Day } from '../../query/time/days.ts';
import { holds, type Row, textIn } from '../derive/values.ts';

const KINDS = ['figi', 'isin', 'cusip', 'cik'] as const;

/** 12 characters with a country or issuer first, 9 with a check digit, or the digits of the SEC's number. */
const SHAPES: readonly RegExp[] = [
  /^[A-Z]{2}[A-Z0-9]{9}\d$/,
  /^[A-Z0-9]{8}\d$/,
  /^(?:CIK)?\d{4,10}$/,
];

/** Whether a text, in upper case, may be an identifier other than a ticker. */
export const looksLikeIdentifier = (text: string): boolean =>
  SHAPES.some((shape) => shape.test(text));

/** Identifier -> symbol, from the records that are valid today; of several the last one. */
export function symbolsById(rows: readonly Row[], today: Day): ReadonlyMap<string, string> {
  const symbols = new Map<string, string>();
  for (const row of rows) {
    const symbol = textIn(row, 'symbol');
    if (symbol === null || !holds(row, today)) continue;
    for (const kind of KINDS) {
      const id = row[kind];
      if (typeof id !== 'string' && typeof id !== 'number') continue;
      symbols.set(kind === 'cik' ? cikOf(String(id)) : String(id).toUpperCase(), symbol);
    }
  }
  // A ticker always refers to its own security, even if another one has the same number.
  for (const row of rows) {
    const symbol = textIn(row, 'symbol');
    if (symbol !== null && holds(row, today)) symbols.set(symbol.toUpperCase(), symbol);
  }
  return symbols;
}

/** The symbol of a text as a caller wrote it, in upper case; undefined for an unknown identifier. */
export const symbolOfId = (
  text: string,
  symbols: ReadonlyMap<string, string>,
): string | undefined => symbols.get(text) ?? symbols.get(cikOf(text));

/**
 * Maps each identifier of a security to all of them: its symbol first. For identifiers of several securities,
 * such as the number of their company, the last one's.
 */
export async function identifiersTogether(
  rows: readonly Row[],
  today: Day,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const together = new Map<string, readonly string[]>();
  const symbols = new Map<string, readonly string[]>();
  for (const [at, row] of rows.entries()) {
    const symbol = textIn(row, 'symbol');
    if (symbol === null || !holds(row, today)) continue;
    const ids = [...KINDS, 'ric'].flatMap((kind) => {
      const id = row[kind];
      return typeof id === 'string' || typeof id === 'number' ? [String(id)] : [];
    });
    const all = [symbol, ...ids].filter((id) => id !== '');
    for (const id of all) together.set(plainOf(id), all);
    symbols.set(plainOf(symbol), all);
    if (at % TURN_ROWS === TURN_ROWS - 1) await othersTurn();
  }
  return new Map([...together, ...symbols]);
}

/** Rows that are indexed during one turn of the event loop. */
const TURN_ROWS = 2_000;

/** Other identifiers of the security that a text names, in their spelling; none for an unknown one. */
export function identifiersOf(
  text: string,
  together: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  return (together.get(plainOf(text)) ?? []).filter((id) => id !== text);
}

const plainOf = (id: string): string => {
  const plain = id.toUpperCase();
  return /^(?:CIK)?\d{4,10}$/.test(plain) ? cikOf(plain) : plain;
};

/** Ignores leading zeros, and the prefix that some write. */
const cikOf = (text: string): string => `CIK ${text.replace(/^CIK/i, '').replace(/^0+/, '')}`;
