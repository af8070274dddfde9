// The whole exchange: its size, and its session at an instant.
import { addDays, type Day } from '../../query/time/days.ts';
import { previousSession, isSession, sessionOf } from '../../query/time/calendar.ts';
import { dayIn } from '../../query/time/dates.ts';
import { FOUNDED } from './listings.ts';

export interface ExchangeShape {
  readonly seed: number;
  /** The fund included. */
  readonly symbols: number;
  /** Years of daily bars. */
  readonly years: number;
  /** Calendar days with minutes, and symbols that have them. */
  readonly minuteDays: number;
  readonly minuteSymbols: number;
  /** Symbols with trades and quotes. */
  readonly tickSymbols: number;
}

/** The exchange in CORE: another seed would be another history for every folder. */
export const EXCHANGE: ExchangeShape = {
  seed: 4,
  symbols: 300,
  years: 10,
  minuteDays: 30,
  minuteSymbols: 300,
  tickSymbols: 300,
};

const ZONE = 'America/New_York';
const MINUTE_MS = 60_000;
/** The calendar's last year but one: actions need days ahead. */
const LAST_DAY: Day = '2030-06-28';

/** Session state of the exchange. */
export interface SessionState {
  /** The latest session that has closed. */
  readonly closed: Day;
  /** The latest that has opened, which may be the same. */
  readonly opened: Day;
  /** Instant up to which `opened` has progressed. */
  readonly untilMs: number;
}

/** Undefined before its first session has closed. */
export function findSessionState(nowMs: number): SessionState | undefined {
  const today = dayIn(nowMs, ZONE);
  if (today <= FOUNDED) return undefined;
  const day = today < LAST_DAY ? today : LAST_DAY;
  const session = isSession(day) ? sessionOf(day) : undefined;
  const before = previousSession(day);
  const isClosed = session !== undefined && session.closeMs <= nowMs;
  const isOpen = session !== undefined && session.openMs < nowMs;
  return { closed: isClosed ? day : before, opened: isOpen ? day : before, untilMs: nowMs };
}

/** The first day of retained bars, and of retained minutes. */
export const retainedFrom = (
  { minuteDays, years }: ExchangeShape,
  { closed }: SessionState,
): { readonly days: Day; readonly minutes: Day } => ({
  days: `${Number(closed.slice(0, 4)) - years}${closed.slice(4).replace('-02-29', '-02-28')}`,
  minutes: addDays(closed, -minuteDays),
});

interface Hours {
  readonly openMs: number;
  readonly minutes: number;
}

/** @throws RangeError for a day without a session. */
export function hoursOf(day: Day): Hours {
  const session = sessionOf(day);
  if (session === undefined) throw new RangeError(`${day} has no session`);
  return {
    openMs: session.openMs,
    minutes: Math.round((session.closeMs - session.openMs) / MINUTE_MS),
  };
}
