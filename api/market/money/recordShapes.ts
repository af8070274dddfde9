// Renders records of streams: unchanged, or in the shape of the original (INTERFACE.md 2.3).
import type { Row } from '../../../market/derive/values.ts';
import { cryptoBookOf, cryptoQuoteOf } from './crypto.ts';
import type { RecordShape } from '../../sse/streamTable.ts';

/** Renders a record as JSON. */
export type Told = (record: Row, json: string) => string;

/** Returns the record unchanged. */
export const WHOLE: Told = (_record, json) => json;

/** Converts a time to epoch milliseconds; other values stay unchanged. */
function toMilliseconds(value: Row[string]): Row[string] {
  const ms = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(ms) ? value : ms;
}

/** Renders a record with its time, if it has one, in milliseconds. */
const renderTimed =
  (name: string): Told =>
  (record, json) =>
    record[name] === undefined
      ? json
      : JSON.stringify({ ...record, [name]: toMilliseconds(record[name]) });

const symbolIn = ({ symbol }: Row): string => String(symbol ?? '');

export const RECORD_SHAPES: Readonly<Record<RecordShape, Told>> = {
  record: WHOLE,
  rate: ({ date, isDerived, rate, symbol, timestamp }) => {
    const ms = toMilliseconds(timestamp ?? date);
    return JSON.stringify({ symbol, rate, timestamp: ms, isDerived: isDerived === true });
  },
  news: renderTimed('datetime'),
  // The score of a day covers all its messages; their number distinguishes it from earlier scores.
  score: (record) => {
    const { score = record['sentiment'], sequence = record['totalScores'] } = record;
    return JSON.stringify({ ...record, score, sequence });
  },
  cryptoQuote: (record) => JSON.stringify(cryptoQuoteOf(symbolIn(record), record)),
  cryptoBook: (record) => JSON.stringify(cryptoBookOf(symbolIn(record), record)),
  cryptoEvent: renderTimed('timestamp'),
};
