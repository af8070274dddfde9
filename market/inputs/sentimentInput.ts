// The inputs of messages about a security: their number and sentiment.
import {
  type Input,
  type InputProperty,
  optionalProperty,
  requiredProperty,
  number,
  SYMBOL,
} from './inputRow.ts';

const SCORES: readonly InputProperty[] = [
  number('sentiment', 0.205, 'Mood, from -1 (all bad) to 1 (all good).'),
  optionalProperty(['totalScores', 'integer', 12, 'Messages that were scored.']),
  number('positive', 0.88, 'Share of good ones, 0 to 1.'),
  number('negative', 0.12, 'Share of bad ones, 0 to 1.'),
];

export const SENTIMENT: Input = {
  id: 'SENTIMENT',
  title: 'Sentiment of each day',
  mapping: { key: 'symbol', date: 'date' },
  weight: 1,
  properties: [SYMBOL, requiredProperty(['date', 'date', '2026-01-30', 'Day.']), ...SCORES],
};

export const SENTIMENT_MINUTES: Input = {
  id: 'SENTIMENT_MINUTES',
  title: 'Sentiment of minutes, those with messages',
  mapping: { key: 'symbol', subkey: 'minute', date: 'date' },
  weight: 1,
  properties: [
    SYMBOL,
    requiredProperty(['date', 'date', '2026-01-30', 'Day.']),
    requiredProperty(['minute', 'string', '0930', 'Minute of the exchange, HHMM.']),
    ...SCORES,
  ],
};
