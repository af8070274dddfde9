// Selects the values to draw if there are more values than places. Never drops a peak.
import type { Bar, Line } from './records/chart.ts';

/** Values that are drawn, of a line and of all together; above it the least and the greatest of each part. */
const [LINE_MAX, ALL_MAX] = [2_000, 8_000];

/**
 * Returns the positions of the values of a line to draw; a position without a value marks a gap.
 * @param lines how many the chart has
 */
export function thinnedPositions(values: Line['values'], lines: number): readonly number[] {
  const most = Math.min(LINE_MAX, Math.floor(ALL_MAX / lines));
  if (values.length <= most) return values.map((_, at) => at);
  const parts = Math.floor(most / 2) - 1;
  const inner = Array.from({ length: parts }, (_, part) => {
    const from = Math.floor((part * values.length) / parts);
    return endsOfPart(values, from, Math.floor(((part + 1) * values.length) / parts));
  });
  const first = values.findIndex((value) => value !== undefined);
  const last = values.findLastIndex((value) => value !== undefined);
  const all = first < 0 ? inner.flat() : [first, ...inner.flat(), last];
  return [...new Set(all)].toSorted((one, other) => one - other);
}

/** Returns the positions of the least and the greatest value of a part; its start if it has no values. */
function endsOfPart(values: Line['values'], from: number, to: number): readonly number[] {
  let [low, high] = [from, from];
  let [least, most] = [Infinity, -Infinity];
  for (let at = from; at < to; at += 1) {
    const value = values[at];
    if (value === undefined) continue;
    if (value < least) [low, least] = [at, value];
    if (value > most) [high, most] = [at, value];
  }
  return [low, high];
}

/** Merges neighbours until at most `most` bars remain; each bar merges equally many records. */
export function mergedBars(bars: readonly Bar[], most: number): readonly Bar[] {
  const each = recordsOfBar(bars, most);
  if (each === 1) return bars;
  return Array.from({ length: Math.ceil(bars.length / each) }, (_, at) =>
    bars.slice(at * each, (at + 1) * each).reduce((merged, { close, high, low, to }) => ({
      ...merged,
      high: Math.max(merged.high, high),
      low: Math.min(merged.low, low),
      close,
      to,
    })),
  );
}

export const recordsOfBar = (bars: readonly Bar[], most: number): number =>
  Math.max(1, Math.ceil(bars.length / most));
