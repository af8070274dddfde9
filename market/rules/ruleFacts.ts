// All values of one symbol at one instant, by the names that rules read.
import type { Literal } from '../../query/rules/conditions.ts';
import { instantIn, type Row } from '../derive/values.ts';
import { dayAt } from '../derive/exchangeTime.ts';
import type { LiveSymbol } from '../live/liveSymbol.ts';
import { type QuoteParts, selectQuoteParts } from '../derive/quote.ts';
import { RULE_VALUES } from './ruleValues.ts';

/** Sources of values; undefined for an unknown symbol. */
interface FactParts {
  readonly quote: Row | undefined;
  readonly stats: Row | undefined;
  readonly advanced: Row | undefined;
  readonly live: LiveSymbol | undefined;
  readonly dividends: readonly Row[];
  readonly splits: readonly Row[];
  readonly nowMs: number;
}

export type Facts = Readonly<Record<string, Literal | null>>;

const OF = (source: string): readonly string[] =>
  RULE_VALUES.filter((row) => row.source === source).map(({ value }) => value);

const QUOTES = OF('quote');
const STATS = OF('stats');
const ADVANCED = OF('advanced');
const OTHERS = ['today', 'isHalted', 'hasMinuteBar', 'dividendToday', 'splitToday'] as const;

/**
 * Values that any rule reads, so that only these are computed. A tick costs 50 µs with all of them, and 10
 * with a price.
 */
export interface FactRequest {
  readonly quotes: readonly string[];
  readonly quoteParts: QuoteParts;
  readonly stats: readonly string[];
  readonly advanced: readonly string[];
  readonly others: readonly (typeof OTHERS)[number][];
}

/** @param names of values, of any source */
export function createFactRequest(names: ReadonlySet<string>): FactRequest {
  const some = (all: readonly string[]): readonly string[] => all.filter((one) => names.has(one));
  const quotes = some(QUOTES);
  return {
    quotes,
    quoteParts: selectQuoteParts(new Set(quotes)),
    stats: some(STATS),
    advanced: some(ADVANCED),
    others: OTHERS.filter((one) => names.has(one)),
  };
}

export function computeFacts(parts: FactParts, request: FactRequest): Facts {
  const facts: Record<string, Literal | null> = {};
  for (const name of request.others) facts[name] = otherOf(name, parts);
  copy(parts.quote, request.quotes, facts);
  copy(parts.stats, request.stats, facts);
  copy(parts.advanced, request.advanced, facts);
  return facts;
}

function otherOf(
  name: (typeof OTHERS)[number],
  { dividends, live, nowMs, splits }: FactParts,
): Literal {
  if (name === 'isHalted') return haltOf(live);
  if (name === 'hasMinuteBar') return beganMinute(live);
  const today = dayAt(nowMs);
  if (name === 'today') return today;
  const rows = name === 'dividendToday' ? dividends : splits;
  return rows.some((row) => isOn(row, 'exDate', today));
}

function copy(
  row: Row | undefined,
  names: readonly string[],
  facts: Record<string, Literal | null>,
): void {
  if (row === undefined) return;
  for (const name of names) {
    const value = row[name];
    facts[name] =
      typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean'
        ? value
        : null;
  }
}

/** Halted or paused, by the last trading status; trading without one. */
function haltOf(live: LiveSymbol | undefined): boolean {
  const status = live?.states.get('tradingStatus')?.['status'];
  return status === 'H' || status === 'P';
}

/** The last trade is the first of its minute: the previous minute's bar is complete. */
function beganMinute(live: LiveSymbol | undefined): boolean {
  const [last, before] = [live?.trades.at(-1), live?.trades.at(-2)];
  if (last === undefined || before === undefined || live?.updatedMs !== last.timeMs) return false;
  return minuteOf(last.timeMs) !== minuteOf(before.timeMs);
}

const minuteOf = (timeMs: number): number => Math.floor(timeMs / 60_000);

function isOn(row: Row, name: string, day: string): boolean {
  const value = row[name];
  if (typeof value === 'string') return value.slice(0, 10) === day;
  const timeMs = instantIn(row, name);
  return Number.isFinite(timeMs) && new Date(timeMs).toISOString().slice(0, 10) === day;
}
