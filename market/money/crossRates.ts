// Rates of two currencies from known rates: direct, inverse, or by a third currency with rates to both.
import type { Row } from '../derive/values.ts';
import { dayIn, instantIn, numberIn } from '../derive/values.ts';

interface Rate {
  readonly rate: number;
  /** Epoch milliseconds. */
  readonly timestamp: number;
  readonly isDerived: boolean;
}

/** Intermediate currencies; the first one with both rates is used. */
const HUBS = ['USD', 'EUR', 'GBP', 'JPY', 'CHF'] as const;

const PAIR = /^([A-Z]{3})[/-]?([A-Z]{3})$/;
const RATE_DIGITS = 10;

/** `USDCAD`, `usd/cad`; undefined for text that is no pair of currencies. */
export function parseCurrencies(symbol: string): readonly [from: string, to: string] | undefined {
  const [, from, to] = PAIR.exec(symbol.trim().toUpperCase()) ?? [];
  return from === undefined || to === undefined ? undefined : [from, to];
}

/** Keys whose records may determine the rate of two currencies. */
export function keysFor(from: string, to: string): readonly string[] {
  const hubs = HUBS.filter((hub) => hub !== from && hub !== to);
  return [
    `${from}${to}`,
    `${to}${from}`,
    ...hubs.flatMap((hub) => [`${from}${hub}`, `${hub}${from}`, `${to}${hub}`, `${hub}${to}`]),
  ];
}

/** @param rowOf the record of a key; undefined where there is none */
export function findRate(
  from: string,
  to: string,
  rowOf: (key: string) => Row | undefined,
): Rate | undefined {
  if (from === to) return { rate: 1, timestamp: 0, isDerived: true };
  const own = straight(from, to, rowOf);
  if (own !== undefined) return roundRate(own);
  for (const hub of HUBS) {
    if (hub === from || hub === to) continue;
    const [first, second] = [straight(from, hub, rowOf), straight(hub, to, rowOf)];
    if (first === undefined || second === undefined) continue;
    const rate = first.rate * second.rate;
    const timestamp = Math.min(first.timestamp, second.timestamp);
    return roundRate({ rate, timestamp, isDerived: true });
  }
  return undefined;
}

/** Rounds to significant digits, for small rates as for large ones. */
const roundRate = (rate: Rate): Rate => ({
  ...rate,
  rate: Number(rate.rate.toPrecision(RATE_DIGITS)),
});

function straight(
  from: string,
  to: string,
  rowOf: (key: string) => Row | undefined,
): Rate | undefined {
  const own = numbersOf(rowOf(`${from}${to}`));
  if (own !== undefined) return { ...own, isDerived: false };
  const turned = numbersOf(rowOf(`${to}${from}`));
  if (turned === undefined) return undefined;
  return { ...turned, rate: 1 / turned.rate, isDerived: true };
}

function numbersOf(row: Row | undefined): Omit<Rate, 'isDerived'> | undefined {
  const rate = numberIn(row, 'rate');
  if (row === undefined || rate === null || rate <= 0) return undefined;
  return { rate, timestamp: numberIn(row, 'timestamp') ?? instantIn(row, 'date') };
}

interface DayRate extends Rate {
  readonly date: string;
}

/** One rate for each day that has one, oldest first. */
export function dailyRates(
  from: string,
  to: string,
  rowsOf: (key: string) => readonly Row[],
): readonly DayRate[] {
  const byDay = new Map<string, Map<string, Row>>();
  for (const key of keysFor(from, to)) {
    for (const row of rowsOf(key)) {
      const day = dayIn(row, 'date');
      const rows = byDay.get(day) ?? new Map<string, Row>();
      byDay.set(day, rows.set(key, row));
    }
  }
  return [...byDay]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([date, rows]) => {
      const rate = findRate(from, to, (key) => rows.get(key));
      return rate === undefined ? [] : [{ ...rate, date }];
    });
}
