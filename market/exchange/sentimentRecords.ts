// The mood about the invented companies as CSV: it follows what their prices did.
import { type Drawn, histories } from './drawn.ts';

/** Days of which it is kept. */
const DAYS_KEPT = 30;
/** A rise of a tenth is all good, a fall of a tenth all bad. */
const ALL_GOOD = 0.1;
const SCORES_LEAST = 10;
const SCORES_RANGE = 90;

export function* sentimentLines(drawn: Drawn): Generator<string> {
  yield 'symbol,date,sentiment,totalScores,positive,negative\n';
  for (const [{ symbol }, { bars }] of histories(drawn)) {
    for (const { close, day, open, volume } of bars.slice(-DAYS_KEPT)) {
      const mood = Math.max(-1, Math.min(1, (close / open - 1) / ALL_GOOD));
      const good = Math.round((mood + 1) * 500) / 1000;
      const bad = Math.round((1 - good) * 1000) / 1000;
      const sentiment = Math.round((good - bad) * 1000) / 1000;
      const scores = SCORES_LEAST + (volume % SCORES_RANGE);
      yield `${symbol},${day},${sentiment},${scores},${good},${bad}\n`;
    }
  }
}
