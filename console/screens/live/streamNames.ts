// Stream names and titles, as listed in docs/guides/streams.md.

/** The stream of a dataset's records; the user enters the dataset. */
export const DATASET = 'stream';

export const STREAMS: readonly (readonly [name: string, title: string])[] = [
  ['stocksUS1Second', 'Quotes, at most one a second'],
  ['stocksUS', 'Quotes as they change'],
  ['stocksUS5Second', 'Quotes, at most one in 5 s'],
  ['stocksUS1Minute', 'Quotes, at most one a minute'],
  ['tops', 'Best bid and ask (tops)'],
  ['last', 'Last sales'],
  ['deep', 'Books of one symbol (deep)'],
  ['trades', 'Trades of a book'],
  ['trading-status', 'Trading status'],
  ['cryptoQuotes', 'Quotes of crypto currencies'],
  ['forex1Second', 'Rates of currencies'],
  ['news-stream', 'News'],
  ['sentiment', 'Sentiment'],
  [DATASET, 'Records of a dataset'],
];

/** Streams that a replay supports. */
export const REPLAYED = ['stocksUS', 'last', 'tops', 'deep'] as const;
