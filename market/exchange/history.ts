// Daily history of a symbol: raw bars, and the splits and dividends that affect them. Sampled session by
// session from the listing on, so that later days continue earlier ones.
import type { Day } from '../../query/time/days.ts';
import { numberOfDay, weekdayOf } from '../../query/time/days.ts';
import { seededRandom } from './seededRandom.ts';
import type { Factors } from './factors.ts';
import type { Listing } from './listings.ts';

/** Prices in cents. */
export interface Bar {
  readonly day: Day;
  /** Index of the day among the exchange's sessions. */
  readonly session: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

interface Split {
  readonly declared: Day;
  readonly exDay: Day;
  /** `from` shares become `to` shares. */
  readonly from: number;
  readonly to: number;
}

interface Dividend {
  readonly declared: Day;
  readonly exDay: Day;
  readonly paid: Day;
  readonly cents: number;
}

export interface History {
  readonly bars: readonly Bar[];
  readonly splits: readonly Split[];
  readonly dividends: readonly Dividend[];
}

/** Sessions from the announcement of a split or a dividend to its ex-date, and from there to payment. */
const [NOTICE, PAYMENT] = [12, 9];
/** Sessions between two splits. */
const SPLITS_APART = 500;
/** Cents: below it ten shares are merged into one. */
const CHEAP = 300;
/** Shares: every trade of a session has at least one. */
const VOLUME_MIN = 8_000;
/** Sunday first. */
const WEEKDAYS = [1, 1.02, 0.97, 0.98, 1, 1.06, 1];

interface State {
  cents: number;
  shares: number;
  dividendCents: number;
  dividendYear: string;
  dividendMonth: string;
  split: (Split & { readonly at: number }) | undefined;
  dividend: (Dividend & { readonly at: number }) | undefined;
  lastSplit: number;
}

/** All bars up to the last sampled session, with actions announced by then. */
export function sampleHistory(factors: Factors, listing: Listing): History {
  const { sampledCount, sessions } = factors;
  const bars: Bar[] = [];
  const splits: Split[] = [];
  const dividends: Dividend[] = [];
  const state: State = {
    cents: listing.firstCents,
    shares: listing.shares,
    dividendCents: 0,
    dividendYear: '',
    dividendMonth: '',
    split: undefined,
    dividend: undefined,
    lastSplit: 0,
  };
  const first = sessions.findIndex((day) => day >= listing.firstDay);
  for (let at = first; at >= 0 && at < sampledCount; at += 1) {
    bars.push(barOf(factors, listing, state, at));
    const paid = announcedDividend(factors, listing, state, at);
    if (paid !== undefined) dividends.push(paid);
    const split = announcedSplit(factors, listing, state, at);
    if (split !== undefined) splits.push(split);
  }
  return { bars, splits, dividends };
}

function barOf(factors: Factors, listing: Listing, state: State, session: number): Bar {
  const { market, sectors, seed, sessions } = factors;
  const { at, beta, drift, ownVolatility, sector, turnover } = listing;
  const day = sessions[session] ?? '';
  const { below, normal } = seededRandom(seed, at, session, 3);
  const before = openedBy(state, session);
  const shock = below(90) === 0 ? 3 : 1;
  const shared = beta * (market[session] ?? 0) + (sectors[sector ?? -1]?.[session] ?? 0);
  const change = shared + drift + normal() * ownVolatility * shock;
  const close = priced(before * Math.exp(change));
  const open = priced(before * Math.exp(0.35 * change + 0.3 * ownVolatility * normal()));
  const reach = before * (ownVolatility + 0.004) * 0.5;
  const high = Math.max(open, close) + Math.round(Math.abs(normal()) * reach);
  const low = priced(Math.min(open, close) - Math.abs(normal()) * reach);
  const busy = Math.exp(0.3 * normal()) * (1 + 12 * Math.abs(change));
  const weekday = WEEKDAYS[weekdayOf(day)] ?? 1;
  const volume = Math.round(Math.max(VOLUME_MIN, state.shares * turnover * busy * weekday));
  state.cents = close;
  return { day, session, open, high, low, close, volume };
}

const priced = (cents: number): number => Math.max(1, Math.round(cents));

/** The previous close, adjusted for the actions of the session. */
function openedBy(state: State, session: number): number {
  const { dividend, split } = state;
  if (dividend?.at === session) {
    state.dividend = undefined;
    return Math.max(1, state.cents - dividend.cents);
  }
  if (split?.at !== session) return state.cents;
  const ratio = split.from / split.to;
  state.split = undefined;
  state.lastSplit = session;
  state.shares /= ratio;
  state.dividendCents = Math.max(1, Math.round(state.dividendCents * ratio));
  return state.cents * ratio;
}

/** Every third month; the amount changes once a year. */
function announcedDividend(
  { sessions }: Factors,
  { at, dividendYield }: Listing,
  state: State,
  session: number,
): Dividend | undefined {
  const day = sessions[session] ?? '';
  const month = day.slice(0, 7);
  const due =
    dividendYield > 0 &&
    Number(day.slice(5, 7)) % 3 === at % 3 &&
    Number(day.slice(8)) > 5 + (at % 9);
  if (!due || state.dividendMonth === month || state.split !== undefined) return undefined;
  const [exDay, paid] = [sessions[session + NOTICE], sessions[session + NOTICE + PAYMENT]];
  if (exDay === undefined || paid === undefined) return undefined;
  state.dividendMonth = month;
  if (state.dividendYear !== day.slice(0, 4)) {
    state.dividendYear = day.slice(0, 4);
    state.dividendCents = Math.max(1, Math.round((state.cents * dividendYield) / 4));
  }
  const cents = Math.min(state.dividendCents, Math.ceil(state.cents / 20));
  const dividend = { declared: day, exDay, paid, cents };
  state.dividend = { ...dividend, at: session + NOTICE };
  return dividend;
}

function announcedSplit(
  { sessions }: Factors,
  { at }: Listing,
  state: State,
  session: number,
): Split | undefined {
  const { cents, dividend, lastSplit, split } = state;
  const isSoon = dividend !== undefined || split !== undefined;
  if (isSoon || session - lastSplit < SPLITS_APART) return undefined;
  const dear = 22_000 + (at % 13) * 2_500;
  const [declared = '', exDay] = [sessions[session], sessions[session + NOTICE]];
  if ((cents > CHEAP && cents < dear) || exDay === undefined) return undefined;
  const into = 2 + ((numberOfDay(declared) + at) % 3);
  const factors = cents <= CHEAP ? { from: 10, to: 1 } : { from: 1, to: into };
  state.split = { declared, exDay, ...factors, at: session + NOTICE };
  return { declared, exDay, ...factors };
}
