// Writes a chart as a specification of Vega-Lite 5 with its values: for notebooks and dashboards that draw
// charts. It shows the same values and candles as the other formats.
import type { Bar, Chart, Line } from './records/chart.ts';
import { FALLING, lookOf, RISING } from './chartColours.ts';
import { barNote, type ChartSize, NOTHING, visibleBars } from './chartLayout.ts';
import { thinnedPositions } from './chartThinning.ts';

type Json = Readonly<Record<string, unknown>>;

const SCHEMA = 'https://vega.github.io/schema/vega-lite/v5.json';
/** Approximate width of the axes in dots. */
const AXES = 90;
/** A candle's body as a share of the distance to the next candle. */
const BODY_SHARE = 0.65;
const BODY_MOST = 24;
/** Area of a value without neighbours, in square dots. */
const DOT_AREA = 25;

export function vegaChart(chart: Chart, size: ChartSize): string {
  const across = acrossOf(chart);
  const note = chart.labels.length === 0 ? NOTHING : barNote(chart, size);
  const lines = lineView(chart, across);
  const candles = candleView(visibleBars(chart, size), across, size);
  const both = {
    ...candles,
    layer: [...candles.layer, ...(chart.lines.length === 0 ? [] : [lines])],
  };
  return JSON.stringify({
    $schema: SCHEMA,
    title: note === '' ? chart.title : { text: chart.title, subtitle: note },
    ...size,
    autosize: { type: 'fit', contains: 'padding' },
    ...(chart.bars === undefined ? lines : both),
  });
}

/** How a position is encoded, and the axis of positions. */
interface Across {
  readonly of: (at: number) => Json;
  readonly axis: Json;
  /** Milliseconds of a position, if positions are days. */
  readonly ms: ((at: number) => number) | undefined;
}

/** Chooses a time axis if all labels are times, names if all differ, else positions. */
function acrossOf({ labelled, labels }: Chart): Across {
  const text = (at: number): string => labels[at] ?? '';
  const times = labelled === 'day' ? labels.map(timeOf) : [];
  if (times.length > 0 && times.every((time) => !Number.isNaN(Date.parse(time)))) {
    return {
      of: (at) => ({ label: times[at] ?? '' }),
      // Otherwise a day would be shown as the evening before, west of Greenwich.
      axis: { field: 'label', type: 'temporal', scale: { type: 'utc' }, title: null },
      ms: (at) => Date.parse(times[at] ?? ''),
    };
  }
  if (labelled !== 'place' && new Set(labels).size === labels.length) {
    const axis = { labelOverlap: true, labelLimit: 120 };
    return {
      of: (at) => ({ label: text(at) }),
      axis: { field: 'label', type: 'nominal', sort: null, axis, title: null },
      ms: undefined,
    };
  }
  return {
    of: (at) => ({ place: at + 1, label: text(at) }),
    axis: { field: 'place', type: 'quantitative', scale: { zero: false }, title: null },
    ms: undefined,
  };
}

/** Converts `2024-01-02 09:31` to ISO 8601, which all programs parse. */
function timeOf(label: string): string {
  const iso = label.replace(/^(\d{4}-\d{2}-\d{2}) (?=\d)/, '$1T');
  return iso === label || /(?:Z|[+-]\d{2}:?\d{2})$/.test(iso) ? iso : `${iso}Z`;
}

const height = (field: string): Json => ({
  field,
  type: 'quantitative',
  scale: { zero: false },
  title: null,
});

/** Specifies lines, and dots for values alone between gaps. */
function lineView({ lines }: Chart, { axis, of }: Across): Json {
  const values = lines.flatMap((line) => valuesOf(line, of, lines.length));
  const domain = lines.map(({ name }) => name);
  const looks = lines.map((_, at) => lookOf(at));
  const legend = lines.length < 2 ? null : { orient: 'top', title: null, symbolType: 'stroke' };
  const scaled = (range: readonly unknown[]): Json => ({
    field: 'line',
    type: 'nominal',
    legend,
    scale: {
      domain,
      range,
    },
  });
  const encoding = {
    x: axis,
    y: height('value'),
    color: scaled(looks.map(({ colour }) => colour)),
  };
  const dashes = looks.map(({ dash }) => (dash.length === 0 ? [1, 0] : dash));
  const mark = { type: 'line', strokeWidth: 1.6, tooltip: true };
  const line = { mark, encoding: { ...encoding, strokeDash: scaled(dashes) } };
  if (!values.some(({ alone }) => alone)) return { data: { values }, ...line };
  const dot = {
    transform: [{ filter: 'datum.alone' }],
    mark: { type: 'point', filled: true, opacity: 1, size: DOT_AREA, tooltip: true },
    encoding,
  };
  return { data: { values }, layer: [line, dot] };
}

interface Value extends Json {
  readonly alone?: true;
}

/** Returns the values that the other formats draw; null is a gap. */
function valuesOf({ name, values }: Line, of: Across['of'], lines: number): readonly Value[] {
  const positions = thinnedPositions(values, lines);
  const isGap = (at: number | undefined): boolean => at === undefined || values[at] === undefined;
  return positions.map((at, index) => {
    const isAlone = !isGap(at) && isGap(positions[index - 1]) && isGap(positions[index + 1]);
    return {
      ...of(at),
      line: name,
      value: values[at] ?? null,
      ...(isAlone ? { alone: true as const } : {}),
    };
  });
}

/** Specifies wicks and bodies. */
function candleView(
  bars: readonly Bar[],
  { axis, ms, of }: Across,
  { width }: ChartSize,
): { readonly data: Json; readonly layer: readonly Json[] } {
  const values = bars.map(({ close, from, high, low, open }) => ({
    ...of(from),
    open,
    high,
    low,
    close,
  }));
  const test = 'datum.close >= datum.open';
  const colour = { condition: { test, value: RISING }, value: FALLING };
  const size = bodySize(bars, ms, Math.max(1, width - AXES));
  const tooltip = { content: 'data' };
  return {
    data: { values },
    layer: [
      {
        mark: { type: 'rule', tooltip },
        encoding: { x: axis, y: height('low'), y2: { field: 'high' }, color: colour },
      },
      {
        // The edge shows a candle that opens and closes at the same value.
        mark: { type: 'bar', size, strokeWidth: 1, tooltip },
        encoding: {
          x: axis,
          y: height('open'),
          y2: { field: 'close' },
          color: colour,
          stroke: colour,
        },
      },
    ],
  };
}

/** Computes the width of a body; on a time axis from the shortest step, as weekends leave gaps. */
function bodySize(bars: readonly Bar[], ms: Across['ms'], room: number): number {
  const [first, last] = [bars[0], bars.at(-1)];
  let places = bars.length;
  if (ms !== undefined && first !== undefined && last !== undefined && first !== last) {
    const steps = bars.slice(1).map(({ from }, at) => ms(from) - ms(bars[at]?.from ?? 0));
    places = 1 + (ms(last.from) - ms(first.from)) / Math.max(1, Math.min(...steps));
  }
  const size = (BODY_SHARE * room) / Math.max(1, places);
  return Math.round(10 * Math.min(BODY_MOST, Math.max(1, size))) / 10;
}
