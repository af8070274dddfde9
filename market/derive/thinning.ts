// Selects fewer bars: every nth, the latest n, or those that preserve the line's shape.

/** Every nth, including the newest. */
export const everyNth = <T>(items: readonly T[], step: number | undefined): readonly T[] =>
  step === undefined || step <= 1
    ? items
    : items.filter((_, at) => (items.length - 1 - at) % step === 0);

export const latest = <T>(items: readonly T[], count: number | undefined): readonly T[] =>
  count === undefined ? items : items.slice(Math.max(0, items.length - count));

/** Tolerated deviation of a left out point, as a share of the line's height. */
const TOLERANCE = 0.01;

/**
 * Points that the line needs (Douglas and Peucker, "Algorithms for the reduction of the number of points",
 * 1973), with a stack, as recursion would be too deep for ten thousand points.
 */
export function simplifyLine<T>(
  items: readonly T[],
  valueOf: (item: T) => number | null,
): readonly T[] {
  const values = items.map((item) => valueOf(item) ?? Number.NaN);
  const present = values.filter((value) => !Number.isNaN(value));
  const height =
    present.reduce((most, one) => Math.max(most, one), -Infinity) -
    present.reduce((most, one) => Math.min(most, one), Infinity);
  const selected = new Set([0, items.length - 1]);
  const spans: [number, number][] = [[0, items.length - 1]];
  for (let span = spans.pop(); span !== undefined; span = spans.pop()) {
    const [from, to] = span;
    const [at, distance] = farthest(values, from, to);
    if (at < 0 || !(distance > height * TOLERANCE)) continue;
    selected.add(at);
    spans.push([from, at], [at, to]);
  }
  return items.filter((_, at) => selected.has(at));
}

/** The point farthest from the line between two others, and its distance above or below it. */
function farthest(values: readonly number[], from: number, to: number): readonly [number, number] {
  const [first, last] = [values[from] ?? Number.NaN, values[to] ?? Number.NaN];
  let [farthestAt, most] = [-1, -1];
  for (let at = from + 1; at < to; at += 1) {
    const line = first + ((last - first) * (at - from)) / (to - from);
    const distance = Math.abs((values[at] ?? Number.NaN) - line);
    if (distance > most) [farthestAt, most] = [at, distance];
  }
  return [farthestAt, most];
}
