// Computes the position of everything that a chart shows, for every output format.
import type { Bar, Chart, Line } from './records/chart.ts';
import {
  CHARACTER,
  type LegendEntry,
  computeLegend,
  ROW_HEIGHT,
  shortened,
} from './chartLegend.ts';
import { mergedBars, recordsOfBar, thinnedPositions } from './chartThinning.ts';

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
  /** The left and right edge of the plot area. */
  readonly left: number;
  readonly right: number;
  /** The height of each grid line, and the value there. */
  readonly grid: readonly { readonly y: number; readonly label: string }[];
  readonly legend: readonly LegendEntry[];
  /** The pieces of each line, split at gaps. */
  readonly lines: readonly (readonly (readonly Place[])[])[];
  readonly candles: readonly Candle[];
  /** Width of a candle's body in dots. */
  readonly candleWidth: number;
  /** Labels below the first and the last position, and between them. */
  readonly first: string;
  readonly between: string;
  readonly last: string;
}

/** The default size, of files of the command line and of URLs without a size. */
export const USUAL_SIZE: ChartSize = { width: 960, height: 420 };
/** Least and most of a side, in dots. */
export const WIDTHS = { least: 240, most: 2_000 };
export const HEIGHTS = { least: 120, most: 1_200 };

/** Text of a chart without values. */
export const NOTHING = 'no values';

const EDGE = { left: 70, right: 20, top: 44, bottom: 36 };
/** Grid lines above the lowest, and the least number of dots between two of them. */
const STEPS = [4, 2, 1];
const STEP_LEAST = 16;
/** Least height in dots that a legend leaves for the values. */
const VALUES_LEAST = 60;
/** Least distance between two candles in dots; with more records neighbours are merged. */
const CANDLE_LEAST = 3;
/** A candle's body as a share of that distance, and its maximum in dots. */
const BODY = { share: 0.65, most: 24 };
/** Characters of a title, and of the labels below the first and the last value. */
const TITLE_MAX = 200;
const LABEL_MAX = 40;

export function computeLayout(chart: Chart, size: ChartSize): ChartLayout {
  const { height, width } = size;
  const [left, right] = [EDGE.left, width - EDGE.right];
  const rowsMax = Math.floor((height - EDGE.top - EDGE.bottom - VALUES_LEAST) / ROW_HEIGHT);
  const names = chart.lines.map(({ name }) => name);
  // A line over candles needs a name, even if there is only one.
  const hasLegend = names.length > 1 || chart.bars !== undefined;
  const legend = computeLegend(hasLegend ? names : [], {
    left,
    right,
    top: EDGE.top - 8,
    rowsMax: Math.max(1, rowsMax),
  });
  const top = EDGE.top + legend.rows * ROW_HEIGHT;
  const bars = visibleBars(chart, size);
  const x = makeScaleX(chart, left, right);
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
      splitAtGaps(values, thinnedPositions(values, chart.lines.length), x, scale.y),
    ),
    candles: bars.map((bar) => candleOf(bar, x, scale.y)),
    candleWidth: tenth(
      Math.min(BODY.most, Math.max(1, (BODY.share * (right - left)) / Math.max(1, bars.length))),
    ),
    ...chooseLabels(chart.labels, barNote(chart, size), Math.floor((right - left) / CHARACTER)),
  };
}

/** Returns the candles to draw: merges neighbours if there are more candles than places. */
export function visibleBars({ bars = [] }: Chart, { width }: ChartSize): readonly Bar[] {
  return mergedBars(bars, candlesMax(width));
}

/** Describes how many records a candle merges; empty if it is one. */
export function barNote({ bars = [] }: Chart, { width }: ChartSize): string {
  const each = recordsOfBar(bars, candlesMax(width));
  return each === 1 ? '' : `${each} records a candle`;
}

const candlesMax = (width: number): number =>
  Math.floor((width - EDGE.left - EDGE.right) / CANDLE_LEAST);

/** Maps a position to x; candles need half a width at each end. */
function makeScaleX({ bars, labels }: Chart, left: number, right: number): (at: number) => number {
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
  const ends = findExtremes(chart);
  const [least, most] = ends ?? [0, 0];
  // Halves, because the span of two numbers may exceed the largest number.
  const half = most === least ? 0.5 : Math.max(most / 2 - least / 2, Number.MIN_VALUE);
  const y = (value: number): number =>
    tenth(top + (bottom - top) * (1 - (value / 2 - least / 2) / half));
  const count = STEPS.find((one) => (bottom - top) / one >= STEP_LEAST) ?? 1;
  const steps = Array.from({ length: count + 1 }, (_, at) => least + half * ((2 * at) / count));
  const step = (half * 2) / count;
  return {
    y,
    grid: ends === undefined ? [] : steps.map((at) => ({ y: y(at), label: formatValue(at, step) })),
  };
}

/** Returns the least and the greatest value; undefined without values. */
function findExtremes({ bars = [], lines }: Chart): readonly [number, number] | undefined {
  let [least, most] = [Infinity, -Infinity];
  const include = (value: number | undefined): void => {
    if (value === undefined) return;
    least = Math.min(least, value);
    most = Math.max(most, value);
  };
  for (const { values } of lines) for (const value of values) include(value);
  for (const { close, high, low, open } of bars) [open, high, low, close].forEach(include);
  return least > most ? undefined : [least, most];
}

function splitAtGaps(
  values: Line['values'],
  positions: readonly number[],
  x: (at: number) => number,
  y: (value: number) => number,
): readonly (readonly Place[])[] {
  const pieces: Place[][] = [[]];
  for (const at of positions) {
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

/** Selects the labels below the chart that have room. */
function chooseLabels(
  labels: readonly string[],
  note: string,
  room: number,
): Pick<ChartLayout, 'first' | 'between' | 'last'> {
  const [first, last] = [labels[0], labels.at(-1)].map((label) =>
    shortened(label ?? '', LABEL_MAX),
  ) as [string, string];
  if (labels.length === 0) return { first: NOTHING, between: '', last: '' };
  const fits = first.length + last.length + 2 <= room;
  // The note is centred: it must not touch the longer of both side labels.
  const isClear = 2 * Math.max(first.length, last.length) + note.length + 4 <= room;
  return {
    first,
    between: isClear ? note : '',
    last: fits && labels.length > 1 ? last : '',
  };
}

const tenth = (value: number): number => Math.round(value * 10) / 10;

/** Characters of a grid label that fit at the left. */
const VALUE_MAX = 8;

/** Formats a value with as many digits as distinguish the grid lines, if there is room. */
function formatValue(value: number, step: number): string {
  const digits = Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(step))));
  const plain = value.toFixed(digits);
  const isDistinct = Number(plain) !== 0 || Math.abs(value) < step / 2;
  if (plain.length <= VALUE_MAX && isDistinct) return plain.replace(/^-(0(?:\.0*)?)$/, '$1');
  const whole = value.toFixed(0);
  if (step >= 1 && whole.length <= VALUE_MAX) return whole;
  return value.toExponential(2).replace('e+', 'e');
}
