// Values of one symbol at instants of the past: what quotes and figures said then, by the code of now.
// Days and minutes that were not over yet are not there; what else is stored is as it is now.
import type { Day } from '../../query/time/days.ts';
import type { InputId } from '../inputs/inputRow.ts';
import { closeOf } from '../derive/lastSale.ts';
import { endOfMinute } from '../derive/minuteBars.ts';
import { quoteOf } from '../derive/quote.ts';
import { dayIn, type Row } from '../derive/values.ts';
import { dayAt } from '../derive/words.ts';
import type { Ask, Need, Read } from '../types/ask.ts';
import { advanced, stats } from '../types/figures.ts';
import { quoteInputs } from '../types/prices.ts';
import { type Facts, factsOf, type FactsWanted } from './ruleFacts.ts';

/** What is stored of a symbol and of what it is compared with: records by input and key, oldest first. */
type Stored = (input: InputId, key: string) => readonly Row[];

/** How far apart instants are: at the end of each minute or day with a bar. */
export type Step = 'minute' | 'day';

interface Standing {
  readonly name: string;
  readonly read: Read;
  readonly stats: Row | undefined;
  readonly advanced: Row | undefined;
}

export class PastFacts {
  readonly #symbol: string;
  readonly #stored: Stored;
  readonly #wanted: FactsWanted;
  /** Minutes by their day: what is looked through for each quote. */
  readonly #minutes: ReadonlyMap<Day, readonly Row[]>;
  #standing: Standing | undefined;

  constructor(symbol: string, stored: Stored, wanted: FactsWanted) {
    this.#wanted = wanted;
    this.#symbol = symbol;
    this.#stored = stored;
    this.#minutes = Map.groupBy(stored('INTRADAY_PRICES', symbol), (row) => dayIn(row, 'date'));
  }

  /** Ends of the bars of these days, in their order. */
  instants(step: Step, from: Day, to: Day): readonly number[] {
    const ends =
      step === 'minute'
        ? [...this.#minutes.values()].flat().map(endOfMinute)
        : this.#stored('HISTORICAL_PRICES', this.#symbol).map((row) => closeOf(dayIn(row, 'date')));
    const within = ends.filter((ms) => dayAt(ms) >= from && dayAt(ms) <= to);
    return [...new Set(within)].sort((one, other) => one - other);
  }

  at(timeMs: number): Facts {
    const today = dayAt(timeMs);
    const ask = { symbol: this.#symbol, nowMs: timeMs, untilMs: timeMs, today, options: {} };
    const { advanced: figures, read, stats: known } = this.#standingAt(ask);
    const inputs = { ...quoteInputs(ask, read), minutes: this.#minutes.get(today) ?? [] };
    const moment = { nowMs: timeMs, untilMs: timeMs, today };
    const quote = quoteOf(this.#symbol, inputs, moment, this.#wanted.quoteParts);
    const actions = { dividends: inputs.dividends, splits: inputs.splits };
    const parts = { quote, stats: known, advanced: figures, live: undefined, nowMs: timeMs };
    return factsOf({ ...parts, ...actions }, this.#wanted);
  }

  /** Of a day before its close, and from it on. */
  #standingAt(ask: Ask): Standing {
    const isOver = closeOf(ask.today) <= ask.nowMs;
    const name = `${ask.today} ${isOver}`;
    if (this.#standing?.name === name) return this.#standing;
    const kept = new Map<string, readonly Row[]>();
    const read: Read = (need) => {
      const key = JSON.stringify(need);
      const known = kept.get(key) ?? windowOf(need, this.#known(need, ask.today, isOver));
      kept.set(key, known);
      return known;
    };
    this.#standing = {
      name,
      read,
      stats: this.#wanted.stats.length > 0 ? stats(ask, read) : undefined,
      advanced: this.#wanted.advanced.length > 0 ? advanced(ask, read) : undefined,
    };
    return this.#standing;
  }

  #known({ input, key }: Need, today: Day, isOver: boolean): readonly Row[] {
    const rows = this.#stored(input, key);
    if (input === 'TRADES' || input === 'QUOTES' || input === 'INTRADAY_PRICES') return [];
    if (input !== 'HISTORICAL_PRICES') return rows;
    return rows.filter((row) => {
      const day = dayIn(row, 'date');
      return day < today || (isOver && day === today);
    });
  }
}

function windowOf({ window }: Need, rows: readonly Row[]): readonly Row[] {
  if (window.kind === 'newest') return rows.slice(-window.count);
  if (window.kind === 'oldest') return rows.slice(0, 1);
  if (window.kind === 'at') {
    const { day } = window;
    const found = rows.findLast((row) => dayIn(row, 'date') <= day);
    return found === undefined ? [] : [found];
  }
  return rows;
}
