// Trading days and holidays of the US exchanges, relative to a day (INTERFACE.md 1 "ref-data").
import { isSession, nextSession, previousSession } from '../../query/time/calendar.ts';
import { addDays, type Day, weekdayOf } from '../../query/time/days.ts';

interface TradingDate {
  readonly date: Day;
  /** Settlement day of the day's trades. */
  readonly settlementDate: Day;
}

/** Limits of the calendar. */
const [FIRST, LAST] = ['1990-01-02', '2030-12-31'];
/** Trades settle one session after their own since then, two before. */
const ONE_DAY_SINCE = '2024-05-28';

const [SUNDAY, SATURDAY] = [0, 6];

/**
 * The next or last `count` days relative to one, the nearest first; fewer at the end of the calendar.
 * @param kind days with a session, or weekdays without one
 */
export function tradingDates(
  kind: 'trade' | 'holiday',
  direction: 'next' | 'last',
  count: number,
  from: Day,
): readonly TradingDate[] {
  const step = direction === 'next' ? 1 : -1;
  const dates: TradingDate[] = [];
  for (let day = addDays(from, step); day >= FIRST && day <= LAST; day = addDays(day, step)) {
    if (dates.length >= count) return dates;
    if (isWanted(kind, day)) dates.push({ date: day, settlementDate: settlementOf(day) });
  }
  return dates;
}

function isWanted(kind: 'trade' | 'holiday', day: Day): boolean {
  if (kind === 'trade') return isSession(day);
  const weekday = weekdayOf(day);
  return weekday !== SUNDAY && weekday !== SATURDAY && !isSession(day);
}

function settlementOf(day: Day): Day {
  let settled = isSession(day) ? day : previousSession(day);
  for (let left = day >= ONE_DAY_SINCE ? 1 : 2; left > 0; left -= 1) {
    if (settled >= LAST) return settled;
    settled = nextSession(settled);
  }
  return settled;
}
