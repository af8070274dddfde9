// Types of option contracts and of sentiment: options, sentiment-minute (INTERFACE.md 1).
import { toContracts, listExpirations, unexpiredOn } from '../derive/optionChain.ts';
import { endOfMinute } from '../derive/minuteBars.ts';
import { dayIn, numberIn, type Row, textIn } from '../derive/values.ts';
import { type TypeRequest, between, type Need, newest, type Read } from './typeRequest.ts';

/** Contracts of one symbol: the longest chains of a day have about ten thousand. */
export const CONTRACTS_MAX = 12_000;

const contractsNeed = ({ symbol }: TypeRequest): Need => newest('OPTIONS', symbol, CONTRACTS_MAX);

export const optionNeeds = (ask: TypeRequest): readonly Need[] => [contractsNeed(ask)];

/** Expiration days of the contracts; with an expiration its contracts, also expired ones. */
export function options(ask: TypeRequest, read: Read): readonly unknown[] {
  const { expiration, side } = ask.options;
  const contracts = toContracts(read(contractsNeed(ask)));
  if (expiration === undefined) return listExpirations(unexpiredOn(contracts, ask.today), 8);
  return contracts.filter(
    (one) => one.expirationDate.startsWith(expiration) && (side === undefined || one.side === side),
  );
}

/** Minutes of a day. */
export const SENTIMENT_MINUTES_MAX = 1_440;

function moodsNeed({ options: { on }, symbol }: TypeRequest): Need {
  if (on !== undefined) return between('SENTIMENT_MINUTES', symbol, on, on);
  return newest('SENTIMENT_MINUTES', symbol, SENTIMENT_MINUTES_MAX);
}

export const sentimentNeeds = (ask: TypeRequest): readonly Need[] => [moodsNeed(ask)];

/** Sentiment of the requested day, or of the latest one, as far as it is visible to the caller. */
export function sentimentMinutes(ask: TypeRequest, read: Read): readonly object[] {
  const seen = read(moodsNeed(ask)).filter((row) => !(sentimentMinuteEnd(row) > ask.untilMs));
  const last = seen.reduce((day, row) => (dayIn(row, 'date') > day ? dayIn(row, 'date') : day), '');
  return seen
    .filter((row) => dayIn(row, 'date') === last)
    .map(moodOf)
    .sort((one, other) => (one.minute < other.minute ? -1 : 1));
}

/** `0930` for `09:30` and `9:30`. */
const minuteIn = (row: Row): string =>
  (textIn(row, 'minute') ?? '').replace(':', '').padStart(4, '0');

/** End of the minute, epoch milliseconds; NaN where it is not a valid one. */
export function sentimentMinuteEnd(row: Row): number {
  const minute = minuteIn(row);
  if (!/^([01]\d|2[0-3])[0-5]\d$/.test(minute)) return Number.NaN;
  return endOfMinute({ ...row, minute: `${minute.slice(0, 2)}:${minute.slice(2)}` });
}

const moodOf = (row: Row) => ({
  date: dayIn(row, 'date'),
  minute: minuteIn(row),
  sentiment: numberIn(row, 'sentiment'),
  totalScores: numberIn(row, 'totalScores'),
  positive: numberIn(row, 'positive'),
  negative: numberIn(row, 'negative'),
});
