// The input of what people write about a security: how much of it, and in which mood.
import { type Input, known, needed, number, SYMBOL } from './inputRow.ts';

export const SENTIMENT: Input = {
  id: 'SENTIMENT',
  title: 'Sentiment of each day',
  mapping: { key: 'symbol', date: 'date' },
  weight: 1,
  properties: [
    SYMBOL,
    needed(['date', 'date', '2026-01-30', 'Day.']),
    number('sentiment', 0.205, 'Mood, from -1 (all bad) to 1 (all good).'),
    known(['totalScores', 'integer', 12, 'Messages that were scored.']),
    number('positive', 0.88, 'Share of good ones, 0 to 1.'),
    number('negative', 0.12, 'Share of bad ones, 0 to 1.'),
  ],
};
