// Where what a chart shows is, whoever paints it: as SVG, as dots.
import type { Bar, Chart, Line } from './records/chart.ts';
import { CHARACTER, type LegendEntry, legendOf, ROW_HEIGHT, shortened } from './chartLegend.ts';
import { mergedBars, recordsOfBar, shownOf } from './chartThinning.ts';

export interface ChartSize {
  readonly width: number;
  readonly height: number;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

/** A candle: heights of its values, and the middle of its body. */
export interface Candle {
  readonly x: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly isRising: boolean;
}

interface ChartLayout extends ChartSize {
  readonly title: string;
  /** Where the area of values begins and ends. */
  readonly left: number;
  readonly right: number;
  /** The height of a line of the grid, and the value there. */
  readonly grid: readonly { readonly y: number; readonly label: string }[];
  readonly legend: readonly LegendEntry[];
  /** Each in pieces, one behind each gap. */
  readonly lines: readonly (readonly (readonly Place[])[])[];
  readonly candles: readonly Candle[];
  /** Dots of a candle's body. */
  readonly candleWidth: number;
  /** What stands below the first and the last place, and between them. */
  readonly first: string;
  readonly between: string;
  readonly last: string;
}

/** As a file of the command line has it, and an address that says nothing else. */
export const USUAL_SIZE: ChartSize = { width: 960, height: 420 };
/** Least and most of a side, in dots. */
export const WIDTHS = { least: 240, most: 2_000 };
export const HEIGHTS = { least: 120, most: 1_200 };

/** What a chart says that has none. */
export const NOTHING = 'no values';

const EDGE = { left: 70, right: 20, top: 44, bottom: 36 };
/** Lines of the grid above the lowest, and dots between two of them at least. */
const STEPS = [4, 2, 1];
const STEP_LEAST = 16;
/** Dots of height that a legend leaves to the values. */
const VALUES_LEAST = 60;
/** Dots from one candle to the next, at least; of more records neighbours become one. */
const CANDLE_LEAST = 3;
/** Of that, a candle's body, and its most. */
const BODY = { share: 0.65, most: 24 };
/** Characters of a title, and of what stands below the first and the last value. */
const TITLE_MAX = 200;
const LABEL_MAX = 40;

export function layoutOf(chart: Chart, size: ChartSize): ChartLayout {
  const { height, width } = size;
  const [left, right] = [EDGE.left, width - EDGE.right];
  const rowsMax = Math.floor((height - EDGE.top - EDGE.bottom - VALUES_LEAST) / ROW_HEIGHT);
  const names = chart.lines.map(({ name }) => name);
  // One line over candles has a name as well: they are something else.
  const isTold = names.length > 1 || chart.bars !== undefined;
  const legend = legendOf(isTold ? names : [], {
    left,
    right,
    top: EDGE.top - 8,
    rowsMax: Math.max(1, rowsMax),
  });
  const top = EDGE.top + legend.rows * ROW_HEIGHT;
  const bars = shownBars(chart, size);
  const x = acrossOf(chart, left, right);
  const scale = scaleOf(chart, top, height - EDGE.bottom);
  return {
    width,
    height,
    left,
    right,
    title: shortened(chart.title, Math.min(TITLE_MAX, Math.floor((right - left) / CHARACTER))),
    grid: scale.grid,
    legend: legend.entries,
    lines: chart.lines.map(({ values }) =>
      piecesOf(values, shownOf(values, chart.lines.length), x, scale.y),
    ),
    candles: bars.map((bar) => candleOf(bar, x, scale.y)),
    candleWidth: tenth(
      Math.min(BODY.most, Math.max(1, (BODY.share * (right - left)) / Math.max(1, bars.length))),
    ),
    ...belowOf(chart.labels, barNote(chart, size), Math.floor((right - left) / CHARACTER)),
  };
}

/** Candles as they are drawn: neighbours become one where there are more than places. */
export function shownBars({ bars = [] }: Chart, { width }: ChartSize): readonly Bar[] {
  return mergedBars(bars, candlesMax(width));
}

/** What a candle stands for, where it is more than one record. */
export function barNote({ bars = [] }: Chart, { width }: ChartSize): string {
  const each = recordsOfBar(bars, candlesMax(width));
  return each === 1 ? '' : `${each} records a candle`;
}

const candlesMax = (width: number): number =>
  Math.floor((width - EDGE.left - EDGE.right) / CANDLE_LEAST);

/** From place to place; of candles each has a width of its own. */
function acrossOf({ bars, labels }: Chart, left: number, right: number): (at: number) => number {
  const wide = right - left;
  return bars === undefined
    ? (at) => tenth(left + (wide * at) / Math.max(1, labels.length - 1))
    : (at) => tenth(left + (wide * (at + 0.5)) / Math.max(1, labels.length));
}

interface Scale {
  readonly y: (value: number) => number;
  readonly grid: ChartLayout['grid'];
}

function scaleOf(chart: Chart, top: number, bottom: number): Scale {
  const ends = endsOf(chart);
  const [least, most] = ends ?? [0, 0];
  // Halves, because the span of two numbers may be more than a number can say.
  const half = most === least ? 0.5 : Math.max(most / 2 - least / 2, Number.MIN_VALUE);
  const y = (value: number): number =>
    tenth(top + (bottom - top) * (1 - (value / 2 - least / 2) / half));
  const count = STEPS.find((one) => (bottom - top) / one >= STEP_LEAST) ?? 1;
  const steps = Array.from({ length: count + 1 }, (_, at) => least + half * ((2 * at) / count));
  const step = (half * 2) / count;
  return {
    y,
    grid: ends === undefined ? [] : steps.map((at) => ({ y: y(at), label: spelled(at, step) })),
  };
}

/** The least and the greatest value of all; undefined where there is none. */
function endsOf({ bars = [], lines }: Chart): readonly [number, number] | undefined {
  let [least, most] = [Infinity, -Infinity];
  const see = (value: number | undefined): void => {
    if (value === undefined) return;
    least = Math.min(least, value);
    most = Math.max(most, value);
  };
  for (const { values } of lines) for (const value of values) see(value);
  for (const { close, high, low, open } of bars) [open, high, low, close].forEach(see);
  return least > most ? undefined : [least, most];
}

function piecesOf(
  values: Line['values'],
  shown: readonly number[],
  x: (at: number) => number,
  y: (value: number) => number,
): readonly (readonly Place[])[] {
  const pieces: Place[][] = [[]];
  for (const at of shown) {
    const value = values[at];
    if (value !== undefined) pieces.at(-1)?.push({ x: x(at), y: y(value) });
    else if (pieces.at(-1)?.length !== 0) pieces.push([]);
  }
  return pieces.filter((piece) => piece.length > 0);
}

const candleOf = (
  { close, from, high, low, open, to }: Bar,
  x: (at: number) => number,
  y: (value: number) => number,
): Candle => ({
  x: tenth((x(from) + x(to)) / 2),
  open: y(open),
  high: y(high),
  low: y(low),
  close: y(close),
  isRising: close >= open,
});

/** What stands below, as far as there is room for it. */
function belowOf(
  labels: readonly string[],
  note: string,
  room: number,
): Pick<ChartLayout, 'first' | 'between' | 'last'> {
  const [first, last] = [labels[0], labels.at(-1)].map((label) =>
    shortened(label ?? '', LABEL_MAX),
  ) as [string, string];
  if (labels.length === 0) return { first: NOTHING, between: '', last: '' };
  const fits = first.length + last.length + 2 <= room;
  // It stands in the middle: the longer of both sides is what it must not meet.
  const isClear = 2 * Math.max(first.length, last.length) + note.length + 4 <= room;
  return {
    first,
    between: isClear ? note : '',
    last: fits && labels.length > 1 ? last : '',
  };
}

const tenth = (value: number): number => Math.round(value * 10) / 10;

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
