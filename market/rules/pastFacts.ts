// Values of one symbol at past instants: quotes and figures at these instants, by the live code. Days and
// minutes that were not over yet are left out; other records are as stored now.
import type { Day } from '../../query/time/days.ts';
import type { InputId } from '../inputs/inputRow.ts';
import { closeOf } from '../derive/lastSale.ts';
import { buildQuote } from '../derive/quote.ts';
import { dayIn, type Row } from '../derive/values.ts';
import { dayAt } from '../derive/exchangeTime.ts';
import type { TypeRequest, Need, Read } from '../types/typeRequest.ts';
import { advanced, stats } from '../types/figures.ts';
import { quoteInputs } from '../types/prices.ts';
import { MinutesSoFar } from './minutesSoFar.ts';
import { type Facts, computeFacts, type FactRequest } from './ruleFacts.ts';

/** Stored records of a symbol and of its benchmarks: oldest first, by input and key. */
type Stored = (input: InputId, key: string) => readonly Row[];

/** Distance of instants: the end of each minute or day with a bar. */
export type Step = 'minute' | 'day';

interface DayState {
  readonly name: string;
  readonly read: Read;
  readonly stats: Row | undefined;
  readonly advanced: Row | undefined;
}

export class PastFacts {
  readonly #symbol: string;
  readonly #stored: Stored;
  readonly #request: FactRequest;
  readonly #minutes: MinutesSoFar;
  #state: DayState | undefined;

  constructor(symbol: string, stored: Stored, request: FactRequest) {
    this.#request = request;
    this.#symbol = symbol;
    this.#stored = stored;
    this.#minutes = new MinutesSoFar(stored('INTRADAY_PRICES', symbol));
  }

  /** Ends of the bars of these days, in their order. */
  instants(step: Step, from: Day, to: Day): readonly number[] {
    const ends =
      step === 'minute'
        ? this.#minutes.ends
        : this.#stored('HISTORICAL_PRICES', this.#symbol).map((row) => closeOf(dayIn(row, 'date')));
    const within = ends.filter((ms) => dayAt(ms) >= from && dayAt(ms) <= to);
    return [...new Set(within)].sort((one, other) => one - other);
  }

  at(timeMs: number): Facts {
    const today = dayAt(timeMs);
    const ask = { symbol: this.#symbol, nowMs: timeMs, untilMs: timeMs, today, options: {} };
    const { advanced: figures, read, stats: keyFigures } = this.#stateAt(ask);
    const inputs = { ...quoteInputs(ask, read), minutes: this.#minutesAt(today, timeMs) };
    const moment = { nowMs: timeMs, untilMs: timeMs, today };
    const quote = buildQuote(this.#symbol, inputs, moment, this.#request.quoteParts);
    const actions = { dividends: inputs.dividends, splits: inputs.splits };
    const parts = { quote, stats: keyFigures, advanced: figures, live: undefined, nowMs: timeMs };
    return computeFacts({ ...parts, ...actions }, this.#request);
  }

  /** A delayed price is of an earlier instant than the others, so it needs all minutes. */
  #minutesAt(today: Day, timeMs: number): readonly Row[] {
    if (this.#request.quoteParts.delayed) return this.#minutes.ofDay(today);
    return this.#minutes.until(today, timeMs);
  }

  /** State before the close of a day, and from it on. */
  #stateAt(ask: TypeRequest): DayState {
    const isOver = closeOf(ask.today) <= ask.nowMs;
    const name = `${ask.today} ${isOver}`;
    if (this.#state?.name === name) return this.#state;
    const cache = new Map<string, readonly Row[]>();
    const read: Read = (need) => {
      const key = JSON.stringify(need);
      const rows = cache.get(key) ?? windowOf(need, this.#visibleRows(need, ask.today, isOver));
      cache.set(key, rows);
      return rows;
    };
    this.#state = {
      name,
      read,
      stats: this.#request.stats.length > 0 ? stats(ask, read) : undefined,
      advanced: this.#request.advanced.length > 0 ? advanced(ask, read) : undefined,
    };
    return this.#state;
  }

  #visibleRows({ input, key }: Need, today: Day, isOver: boolean): readonly Row[] {
    const rows = this.#stored(input, key);
    if (input === 'TRADES' || input === 'QUOTES' || input === 'INTRADAY_PRICES') return [];
    if (input !== 'HISTORICAL_PRICES') return rows;
    return rows.slice(0, countUntil(rows, today, isOver));
  }
}

/** Counts the days before a day, or up to it; days are stored in their order. */
function countUntil(rows: readonly Row[], day: Day, isIncluded: boolean): number {
  let [from, to] = [0, rows.length];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const date = dayIn(rows[middle] ?? {}, 'date');
    if (date < day || (isIncluded && date === day)) from = middle + 1;
    else to = middle;
  }
  return from;
}

function windowOf({ window }: Need, rows: readonly Row[]): readonly Row[] {
  if (window.kind === 'newest') return rows.slice(-window.count);
  if (window.kind === 'oldest') return rows.slice(0, 1);
  if (window.kind === 'at') {
    const { day } = window;
    const match = rows.findLast((row) => dayIn(row, 'date') <= day);
    return match === undefined ? [] : [match];
  }
  return rows;
}
