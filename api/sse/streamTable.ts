// The streams of the original (INTERFACE.md 2.2): what each sends, how often, and whose data it is of.
import { deepTopic } from '../../market/live/deepMessages.ts';

interface Named {
  readonly name: string;
  readonly summary: string;
  /** As its messages are told in the account's usage. */
  readonly usageKey: string;
  /** Inputs of CORE: who may not read one of those that are there, or sees it delayed, gets no stream. */
  readonly inputs: readonly string[];
}

/** How a record is told: as it stands, or as the original told what it is of. */
export type RecordShape =
  'record' | 'rate' | 'news' | 'score' | 'cryptoQuote' | 'cryptoBook' | 'cryptoEvent';

export type StreamRow = Named &
  (
    | { readonly kind: 'quotes'; readonly intervalMs: number }
    | { readonly kind: 'ticks'; readonly topic: 'tops' | 'last' }
    /** Undefined: the channels that are asked for. */
    | { readonly kind: 'deep'; readonly channel?: string }
    /** Records of one dataset of CORE as they are written. */
    | { readonly kind: 'records'; readonly intervalMs: number; readonly shape: RecordShape }
  );

/** A quote changes with each tick: as often as a person, or a chart, can see. */
const QUOTE_MS = 50;
const TICKS: readonly string[] = ['TRADES', 'QUOTES'];
const DEPTH: readonly string[] = [...TICKS, 'BOOK'];

const quotes = (name: string, intervalMs: number): StreamRow => ({
  kind: 'quotes',
  name,
  intervalMs,
  usageKey: name.toUpperCase(),
  summary: `Quotes as they change, at most one of a symbol in ${wordsOf(intervalMs)}.`,
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

const wordsOf = (ms: number): string =>
  ms < 1_000 ? `${ms} ms` : ms < 60_000 ? `${ms / 1_000} s` : 'a minute';

const EVERY: readonly (readonly [suffix: string, intervalMs: number])[] = [
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

/** A channel of deep under a path of its own, as iexjs asks for it. */
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
    EVERY.map(([suffix, intervalMs]) => quotes(`${name}${suffix}`, intervalMs)),
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
  records('news-stream', 'NEWS', 'news', 'News as they come.'),
  records('sentiment', 'SENTIMENT', 'score', 'Scores of sentiment as they come.'),
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

/** Spellings that clients send. */
const CHANNEL_OF: ReadonlyMap<string, string> = new Map([
  ...CHANNELS.map((channel): [string, string] => [channel, channel]),
  ...CHANNELS.map((channel): [string, string] => [channel.replaceAll('-', ''), channel]),
  ...(['ssr', 'tradebreak', 'tradebreaks'] as const).map((name): [string, string] => [
    name,
    name === 'ssr' ? 'ssr-status' : 'trade-breaks',
  ]),
]);

export const CHANNEL_NAMES = CHANNELS;

/** Undefined for a channel that there is not. */
export const channelOf = (text: string): string | undefined => CHANNEL_OF.get(text.toLowerCase());

export const topicsOf = (row: StreamRow, channels: readonly string[]): readonly string[] => {
  if (row.kind === 'deep') return channels.map(deepTopic);
  return row.kind === 'ticks' ? [row.topic] : [];
};

const BY_NAME: ReadonlyMap<string, string> = new Map(
  STREAM_ROWS.map(({ name }) => [name.toLowerCase(), name]),
);

/** As the table spells it; clients write it in lower case too. */
export const streamName = (text: string): string | undefined => BY_NAME.get(text.toLowerCase());
