// What a chart of a line shows and where, whoever paints it: as SVG, as dots.

export interface Point {
  readonly label: string;
  readonly value: number;
}

export interface ChartSize {
  readonly width: number;
  readonly height: number;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

interface ChartLayout extends ChartSize {
  readonly title: string;
  /** Where the area of values begins and ends. */
  readonly left: number;
  readonly right: number;
  /** The height of a line of the grid, and the value there. */
  readonly grid: readonly { readonly y: number; readonly label: string }[];
  readonly line: readonly Place[];
  readonly first: string;
  readonly last: string;
}

/** As a file of the command line has it, and an address that says nothing else. */
export const USUAL_SIZE: ChartSize = { width: 960, height: 420 };
/** Least and most of a side, in dots. */
export const WIDTHS = { least: 240, most: 2_000 };
export const HEIGHTS = { least: 120, most: 1_200 };

const EDGE = { left: 70, right: 20, top: 44, bottom: 36 };
const LINES = 4;
/** Places of a line that are drawn; of more values the least and the most of each part. */
const PLACES_MAX = 2_000;
/** Characters of a title, and of what stands below the first and the last value. */
const TITLE_MAX = 200;
const LABEL_MAX = 40;
/** Dots that a character takes, at most times. */
const CHARACTER = 8;

export function layoutOf(title: string, points: readonly Point[], size: ChartSize): ChartLayout {
  const { height, width } = size;
  const [left, right] = [EDGE.left, width - EDGE.right];
  const [least, most] = endsOf(points);
  // Halves, because the span of two numbers may be more than a number can say.
  const half = most === least ? 0.5 : Math.max(most / 2 - least / 2, Number.MIN_VALUE);
  const high = height - EDGE.top - EDGE.bottom;
  const y = (value: number): number =>
    tenth(EDGE.top + high * (1 - (value / 2 - least / 2) / half));
  const x = (at: number): number =>
    tenth(left + ((right - left) * at) / Math.max(1, points.length - 1));
  const steps = Array.from({ length: LINES + 1 }, (_, at) => least + half * ((2 * at) / LINES));
  const [first, last] = [points[0], points.at(-1)].map((point) =>
    shortened(point?.label ?? '', LABEL_MAX),
  ) as [string, string];
  const fits = (first.length + last.length + 2) * CHARACTER <= right - left;
  return {
    ...{ width, height, left, right, first },
    title: shortened(title, Math.min(TITLE_MAX, Math.floor((right - left) / CHARACTER))),
    grid:
      points.length === 0
        ? []
        : steps.map((value) => ({ y: y(value), label: spelled(value, (half * 2) / LINES) })),
    line: shownOf(points).map((at) => ({ x: x(at), y: y(points[at]?.value ?? least) })),
    last: fits && points.length > 1 ? last : '',
  };
}

function endsOf(points: readonly Point[]): readonly [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const { value } of points) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return points.length === 0 ? [0, 0] : [least, most];
}

/** Which values are drawn, by their places: a peak is never left out. */
function shownOf(points: readonly Point[]): readonly number[] {
  if (points.length <= PLACES_MAX) return points.map((_, at) => at);
  const parts = PLACES_MAX / 2 - 1;
  const inner = Array.from({ length: parts }, (_, part) => {
    const from = Math.floor((part * points.length) / parts);
    const to = Math.floor(((part + 1) * points.length) / parts);
    let [low, high] = [from, from];
    for (let at = from + 1; at < to; at += 1) {
      const value = points[at]?.value ?? 0;
      if (value < (points[low]?.value ?? 0)) low = at;
      if (value > (points[high]?.value ?? 0)) high = at;
    }
    return [Math.min(low, high), Math.max(low, high)];
  });
  return [...new Set([0, ...inner.flat(), points.length - 1])];
}

const tenth = (value: number): number => Math.round(value * 10) / 10;

const shortened = (text: string, most: number): string => {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
};

/** Characters of a value that fit at the left. */
const VALUE_MAX = 8;

/** As many digits as tell the lines of a grid apart, where there is room. */
function spelled(value: number, step: number): string {
  const digits = Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(step))));
  const plain = value.toFixed(digits);
  const isTelling = Number(plain) !== 0 || Math.abs(value) < step / 2;
  if (plain.length <= VALUE_MAX && isTelling) return plain.replace(/^-(0(?:\.0*)?)$/, '$1');
  const whole = value.toFixed(0);
  if (step >= 1 && whole.length <= VALUE_MAX) return whole;
  return value.toExponential(2).replace('e+', 'e');
}
