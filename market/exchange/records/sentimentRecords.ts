// Sentiment about the invented companies as CSV: derived from their prices. Messages of some minutes add up
// to those of a day.
import type { Bar } from '../history.ts';
import { type SampledMarket, histories } from '../sampledMarket.ts';
import { seededRandom } from '../seededRandom.ts';

/** Retained days, and days with minutes. */
const DAYS_KEPT = 30;
const MINUTE_DAYS = 5;
/** A rise of a tenth is entirely positive, a fall of a tenth entirely negative. */
const ALL_GOOD = 0.1;
const SCORES_LEAST = 10;
const SCORES_RANGE = 90;
/** Half hours of a session with messages. */
const MINUTES = ['0930', '1000', '1030', '1100', '1130', '1200', '1230'];
/** Random stream of sentiment. */
const MOODS = 12;

const thousandth = (value: number): number => Math.round(value * 1000) / 1000;

interface Mood {
  readonly scores: number;
  /** Share of positive messages, in thousandths. */
  readonly good: number;
}

function moodOf({ close, open, volume }: Bar): Mood {
  const mood = Math.max(-1, Math.min(1, (close / open - 1) / ALL_GOOD));
  return { scores: SCORES_LEAST + (volume % SCORES_RANGE), good: Math.round((mood + 1) * 500) };
}

/** Columns of records: sentiment, messages, shares of positive and negative ones. */
function columnsOf({ good, scores }: Mood): string {
  const bad = 1000 - good;
  return [thousandth((good - bad) / 1000), scores, good / 1000, bad / 1000].join(',');
}

export function* sentimentLines(market: SampledMarket): Generator<string> {
  yield 'symbol,date,sentiment,totalScores,positive,negative\n';
  for (const [{ symbol }, { bars }] of histories(market)) {
    for (const bar of bars.slice(-DAYS_KEPT)) {
      yield `${symbol},${bar.day},${columnsOf(moodOf(bar))}\n`;
    }
  }
}

export function* sentimentMinuteLines(market: SampledMarket): Generator<string> {
  const { shape, session } = market;
  yield 'symbol,date,minute,sentiment,totalScores,positive,negative\n';
  for (const [{ at, symbol }, { bars }] of histories(market)) {
    const over = bars.filter(({ day }) => day <= session.closed).slice(-MINUTE_DAYS);
    for (const bar of over) {
      for (const [place, mood] of minutesOf(shape.seed, at, bar).entries()) {
        yield `${symbol},${bar.day},${MINUTES[place]},${columnsOf(mood)}\n`;
      }
    }
  }
}

/** Pairs of minutes with opposite distances from the day's sentiment: together they equal the day's. */
function minutesOf(seed: number, at: number, bar: Bar): readonly Mood[] {
  const { good, scores } = moodOf(bar);
  const { below } = seededRandom(seed, at, bar.session, MOODS);
  const each = Math.floor(scores / MINUTES.length);
  const pairs = Array.from({ length: (MINUTES.length - 1) / 2 }, () => {
    const aside = below(Math.min(good, 1000 - good) + 1);
    return [-aside, aside].map((one) => ({ scores: each, good: good + one }));
  }).flat();
  return [...pairs, { scores: scores - each * pairs.length, good }];
}
