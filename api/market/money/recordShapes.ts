// How records are told: as they stand, or as the original told what they are of (INTERFACE.md 2.3).
import type { Row } from '../../../market/derive/values.ts';
import { cryptoBookOf, cryptoQuoteOf } from './crypto.ts';
import type { RecordShape } from '../../sse/streamTable.ts';

/** A record as it is told. */
export type Told = (record: Row, json: string) => string;

/** As it is. */
export const WHOLE: Told = (_record, json) => json;

/** Epoch milliseconds, however a time was loaded; what is none stays as it is. */
function millisecondsOf(value: Row[string]): Row[string] {
  const ms = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(ms) ? value : ms;
}

/** With a time in milliseconds where there is one. */
const timed =
  (name: string): Told =>
  (record, json) =>
    record[name] === undefined
      ? json
      : JSON.stringify({ ...record, [name]: millisecondsOf(record[name]) });

const symbolIn = ({ symbol }: Row): string => String(symbol ?? '');

export const RECORD_SHAPES: Readonly<Record<RecordShape, Told>> = {
  record: WHOLE,
  rate: ({ date, isDerived, rate, symbol, timestamp }) => {
    const ms = millisecondsOf(timestamp ?? date);
    return JSON.stringify({ symbol, rate, timestamp: ms, isDerived: isDerived === true });
  },
  news: timed('datetime'),
  // Of a day, its score is that of all its messages, and their number tells it from earlier ones.
  score: (record) => {
    const { score = record['sentiment'], sequence = record['totalScores'] } = record;
    return JSON.stringify({ ...record, score, sequence });
  },
  cryptoQuote: (record) => JSON.stringify(cryptoQuoteOf(symbolIn(record), record)),
  cryptoBook: (record) => JSON.stringify(cryptoBookOf(symbolIn(record), record)),
  cryptoEvent: timed('timestamp'),
};
