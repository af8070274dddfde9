// The streams that there are, as docs/guides/streams.md lists them.

/** Stands for the records of a dataset, which a person names beside. */
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

/** Those that a replay plays. */
export const REPLAYED = ['stocksUS', 'last', 'tops', 'deep'] as const;
