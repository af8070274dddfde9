// Random histories of a symbol: sessions with prices, splits and dividends on some of them, several on one
// day and some after today.
import type { Row } from '../../../market/derive/values.ts';
import { sessionsBetween } from '../../../query/time/calendar.ts';
import { addDays, type Day } from '../../../query/time/days.ts';
import type { Seeded } from '../../soak/crash/rounds/seeded.ts';

export interface History {
  readonly today: Day;
  readonly rows: readonly Row[];
  readonly splits: readonly Row[];
  readonly dividends: readonly Row[];
}

type Ratio = readonly [from: number, to: number];
const RATIOS: readonly [Ratio, ...Ratio[]] = [
  [1, 2],
  [2, 3],
  [1, 7],
  [10, 1],
];

export function historyOf(random: Seeded): History {
  const today = addDays('2015-01-01', random.between(0, 3_000));
  const days = sessionsBetween(addDays(today, -random.between(10, 900)), today);
  const rows: Row[] = [];
  let close = random.between(500, 50_000) / 100;
  for (const date of days) {
    close = Math.max(0.5, Math.round(close * (0.97 + random.next() * 0.06) * 100) / 100);
    const [high, low] = [close + random.between(0, 200) / 100, close * 0.99];
    const volume = random.between(0, 1_000_000);
    rows.push({ date, open: close, high, low, close, volume });
  }
  const dayOf = (): Day => addDays(today, 20 - random.between(0, 920));
  const splits = Array.from({ length: random.between(0, 4) }, () => {
    const [fromFactor, toFactor] = random.pick(RATIOS);
    return { exDate: dayOf(), fromFactor, toFactor };
  });
  const dividends = Array.from({ length: random.between(0, 12) }, () => ({
    // Some dividends are on the day of a split.
    exDate: random.chance(0.2) ? (splits[0]?.exDate ?? dayOf()) : dayOf(),
    amount: random.between(1, 100) / 100,
  }));
  return { today, rows, splits, dividends };
}
