// Current option contracts (INTERFACE.md 1 "options"): the latest record of each.
import type { Day } from '../../query/time/days.ts';
import { dayIn, numberIn, type Row, textIn } from './values.ts';

export type OptionSide = 'call' | 'put';

interface OptionContract {
  readonly symbol: string;
  readonly id: string;
  /** YYYYMMDD. */
  readonly expirationDate: string;
  readonly contractSize: number | null;
  readonly strikePrice: number | null;
  readonly closingPrice: number | null;
  readonly side: OptionSide | null;
  readonly type: string | null;
  readonly volume: number | null;
  readonly openInterest: number | null;
  readonly bid: number | null;
  readonly ask: number | null;
  readonly lastUpdated: Day;
  readonly isAdjusted: boolean;
}

/** By expiration, strike and side. @param rows of OPTIONS, oldest first */
export function toContracts(rows: readonly Row[]): readonly OptionContract[] {
  const newest = new Map(rows.map((row) => [textIn(row, 'id') ?? '', row]));
  return [...newest.values()].map(contractOf).sort(inOrder);
}

const contractOf = (row: Row): OptionContract => ({
  symbol: textIn(row, 'symbol') ?? '',
  id: textIn(row, 'id') ?? '',
  expirationDate: plainDay(dayIn(row, 'expirationDate')),
  contractSize: numberIn(row, 'contractSize'),
  strikePrice: numberIn(row, 'strikePrice'),
  closingPrice: numberIn(row, 'closingPrice'),
  side: sideIn(row),
  type: textIn(row, 'type'),
  volume: numberIn(row, 'volume'),
  openInterest: numberIn(row, 'openInterest'),
  bid: numberIn(row, 'bid'),
  ask: numberIn(row, 'ask'),
  lastUpdated: dayIn(row, 'lastUpdated'),
  isAdjusted: row['isAdjusted'] === true,
});

/** Vendors write `Call` and `C`. */
function sideIn(row: Row): OptionSide | null {
  const letter = textIn(row, 'side')?.[0]?.toLowerCase();
  return letter === 'c' ? 'call' : letter === 'p' ? 'put' : null;
}

const plainDay = (day: Day): string => day.replaceAll('-', '');

function inOrder(one: OptionContract, other: OptionContract): number {
  if (one.expirationDate !== other.expirationDate) {
    return one.expirationDate < other.expirationDate ? -1 : 1;
  }
  const strikes = (one.strikePrice ?? 0) - (other.strikePrice ?? 0);
  if (strikes !== 0) return strikes;
  return (one.side ?? '') < (other.side ?? '') ? -1 : 1;
}

/** Contracts that are not expired on a day. */
export const unexpiredOn = (
  contracts: readonly OptionContract[],
  day: Day,
): readonly OptionContract[] => {
  const today = plainDay(day);
  return contracts.filter(({ expirationDate }) => expirationDate >= today);
};

/** Expirations as days or months: the first 8 or 6 characters of `YYYYMMDD`. */
export const listExpirations = (
  contracts: readonly OptionContract[],
  length: 6 | 8,
): readonly string[] => [
  ...new Set(contracts.map(({ expirationDate }) => expirationDate.slice(0, length))),
];
