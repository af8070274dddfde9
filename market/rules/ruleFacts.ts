// All values of one symbol at one instant, by the names that rules read.
import type { Literal } from '../../query/rules/conditions.ts';
import { instantIn, type Row } from '../derive/values.ts';
import { clockAt, dayAt } from '../derive/words.ts';
import type { LiveSymbol } from '../live/liveSymbol.ts';
import { RULE_VALUES } from './ruleValues.ts';

/** What values are made of; undefined where nothing is known. */
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

export function factsOf(parts: FactParts): Facts {
  const { advanced, live, nowMs, quote, stats } = parts;
  const today = dayAt(nowMs);
  const facts: Record<string, Literal | null> = {
    today,
    isHalted: haltOf(live),
    hasMinuteBar: beganMinute(live),
    dividendToday: parts.dividends.some((row) => isOn(row, 'exDate', today)),
    splitToday: parts.splits.some((row) => isOn(row, 'exDate', today)),
  };
  copy(quote, QUOTES, facts);
  copy(stats, STATS, facts);
  copy(advanced, ADVANCED, facts);
  return facts;
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

/** Halted or paused, by the last trading status; trading where none was told. */
function haltOf(live: LiveSymbol | undefined): boolean {
  const status = live?.states.get('tradingStatus')?.['status'];
  return status === 'H' || status === 'P';
}

/** The last trade is the first of its minute: the bar of the minute before is there. */
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

/** Zones keep their distance for at least so long. */
const QUARTER_MS = 900_000;
let quarter = { number: -1, second: 0 };

/** Seconds since midnight at the exchange. */
export function secondOfDay(timeMs: number): number {
  const number = Math.floor(timeMs / QUARTER_MS);
  if (number !== quarter.number) {
    const [hours = 0, minutes = 0] = clockAt(number * QUARTER_MS)
      .split(':')
      .map(Number);
    quarter = { number, second: hours * 3_600 + minutes * 60 };
  }
  return quarter.second + Math.floor((timeMs - number * QUARTER_MS) / 1_000);
}
