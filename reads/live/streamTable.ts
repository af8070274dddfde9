// Lists the streams of the original (INTERFACE.md 2.2): messages, interval and inputs of each.
import { deepTopic } from '../../market/live/deepMessages.ts';

interface StreamBase {
  readonly name: string;
  readonly summary: string;
  /** The key of its messages in the account's usage. */
  readonly usageKey: string;
  /** Inputs of CORE: a caller without access to an existing one, or with a delay, gets no stream. */
  readonly inputs: readonly string[];
}

/** The form of a record: unchanged, or as in the original. */
export type RecordShape =
  'record' | 'rate' | 'news' | 'score' | 'cryptoQuote' | 'cryptoBook' | 'cryptoEvent';

export type StreamRow = StreamBase &
  (
    | { readonly kind: 'quotes'; readonly intervalMs: number }
    | { readonly kind: 'ticks'; readonly topic: 'tops' | 'last' }
    /** Undefined: the requested channels. */
    | { readonly kind: 'deep'; readonly channel?: string }
    /** Records of one dataset of CORE as they are written. */
    | { readonly kind: 'records'; readonly intervalMs: number; readonly shape: RecordShape }
  );

/** The shortest interval of quotes, which change with each tick: what a person or a chart can perceive. */
const QUOTE_MS = 50;
const TICKS: readonly string[] = ['TRADES', 'QUOTES'];
const DEPTH: readonly string[] = [...TICKS, 'BOOK'];

const quotes = (name: string, intervalMs: number): StreamRow => ({
  kind: 'quotes',
  name,
  intervalMs,
  usageKey: name.toUpperCase(),
  summary: `Quotes as they change, at most one per symbol in ${formatInterval(intervalMs)}.`,
  inputs: TICKS,
});

const records = (
  name: string,
  dataset: string,
  shape: RecordShape,
  summary: string,
): StreamRow => ({
  kind: 'records',
  name,
  summary,
  intervalMs: 0,
  shape,
  usageKey: name.toUpperCase(),
  inputs: [dataset],
});

const formatInterval = (ms: number): string =>
  ms < 1_000 ? `${ms} ms` : ms < 60_000 ? `${ms / 1_000} s` : 'a minute';

const INTERVALS: readonly (readonly [suffix: string, intervalMs: number])[] = [
  ['', QUOTE_MS],
  ['1Second', 1_000],
  ['5Second', 5_000],
  ['1Minute', 60_000],
];

const CHANNELS: readonly string[] = [
  'deep',
  'auction',
  'book',
  'op-halt-status',
  'official-price',
  'security-event',
  'ssr-status',
  'system-event',
  'trades',
  'trade-breaks',
  'trading-status',
];

/** Builds the row of a channel of deep under its own path, as iexjs requests it. */
const channelRow = (channel: string): StreamRow => ({
  kind: 'deep',
  name: channel,
  channel,
  usageKey: 'IEX_DEEP',
  inputs: DEPTH,
  summary: `Channel ${channel} of deep.`,
});

export const STREAM_ROWS: readonly StreamRow[] = [
  ...['stocksUS', 'stocksUSNoUTP'].flatMap((name) =>
    INTERVALS.map(([suffix, intervalMs]) => quotes(`${name}${suffix}`, intervalMs)),
  ),
  quotes('stocksOTC', QUOTE_MS),
  {
    kind: 'ticks',
    name: 'tops',
    topic: 'tops',
    usageKey: 'TOPS',
    inputs: TICKS,
    summary: 'Best bid and ask and the last sale, each time one of them changes.',
  },
  {
    kind: 'ticks',
    name: 'last',
    topic: 'last',
    usageKey: 'LAST',
    inputs: ['TRADES'],
    summary: 'Every sale that is shown as a last price.',
  },
  {
    kind: 'deep',
    name: 'deep',
    usageKey: 'IEX_DEEP',
    inputs: DEPTH,
    summary: 'Everything of the book of one symbol, by channels.',
  },
  ...CHANNELS.filter((channel) => channel !== 'deep').map(channelRow),
  records('news-stream', 'NEWS', 'news', 'News as they arrive.'),
  records('sentiment', 'SENTIMENT', 'score', 'Sentiment scores as they arrive.'),
  records(
    'cryptoQuotes',
    'CRYPTO_QUOTES',
    'cryptoQuote',
    'Quotes of crypto currencies as they change.',
  ),
  records('cryptoBook', 'CRYPTO_BOOKS', 'cryptoBook', 'Books of crypto currencies as they change.'),
  records(
    'cryptoEvents',
    'CRYPTO_EVENTS',
    'cryptoEvent',
    'Orders and trades of crypto currencies.',
  ),
  ...['forex', 'forex1Second', 'forex5Second', 'forex1Minute'].map((name, at): StreamRow => ({
    ...records(name, 'FX_RATES', 'rate', 'Rates of currencies as they change.'),
    kind: 'records',
    shape: 'rate',
    intervalMs: [0, 1e3, 5e3, 6e4][at] ?? 0,
  })),
];

/** Channels by the spellings that clients send. */
const CHANNEL_BY_SPELLING: ReadonlyMap<string, string> = new Map([
  ...CHANNELS.map((channel): [string, string] => [channel, channel]),
  ...CHANNELS.map((channel): [string, string] => [channel.replaceAll('-', ''), channel]),
  ...(['ssr', 'tradebreak', 'tradebreaks'] as const).map((name): [string, string] => [
    name,
    name === 'ssr' ? 'ssr-status' : 'trade-breaks',
  ]),
]);

export const CHANNEL_NAMES = CHANNELS;

/** Finds a channel; undefined if it does not exist. */
export const findChannel = (text: string): string | undefined =>
  CHANNEL_BY_SPELLING.get(text.toLowerCase());

export const listTopics = (row: StreamRow, channels: readonly string[]): readonly string[] => {
  if (row.kind === 'deep') return channels.map(deepTopic);
  return row.kind === 'ticks' ? [row.topic] : [];
};

const BY_NAME: ReadonlyMap<string, string> = new Map(
  STREAM_ROWS.map(({ name }) => [name.toLowerCase(), name]),
);

/** Finds the name of a stream in the table's spelling; clients also use lower case. */
export const findStreamName = (text: string): string | undefined => BY_NAME.get(text.toLowerCase());
