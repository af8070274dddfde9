// Renders records of streams: unchanged, or in the shape of the original (INTERFACE.md 2.3).
import type { Row } from '../../../market/derive/values.ts';
import { toCryptoBook, toCryptoQuote } from './crypto.ts';
import type { RecordShape } from '../../live/streamTable.ts';

/** Renders a record as JSON. */
export type RecordRenderer = (record: Row, json: string) => string;

/** Returns the record unchanged. */
export const UNCHANGED_RECORD: RecordRenderer = (_record, json) => json;

/** Converts a time to epoch milliseconds; other values stay unchanged. */
function toMilliseconds(value: Row[string]): Row[string] {
  const ms = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(ms) ? value : ms;
}

/** Renders a record with its time, if it has one, in milliseconds. */
const renderTimed =
  (name: string): RecordRenderer =>
  (record, json) =>
    record[name] === undefined
      ? json
      : JSON.stringify({ ...record, [name]: toMilliseconds(record[name]) });

const symbolIn = ({ symbol }: Row): string => String(symbol ?? '');

export const RECORD_SHAPES: Readonly<Record<RecordShape, RecordRenderer>> = {
  record: UNCHANGED_RECORD,
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
  cryptoQuote: (record) => JSON.stringify(toCryptoQuote(symbolIn(record), record)),
  cryptoBook: (record) => JSON.stringify(toCryptoBook(symbolIn(record), record)),
  cryptoEvent: renderTimed('timestamp'),
};
