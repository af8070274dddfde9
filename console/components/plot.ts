// Renders axes, lines, candles and marks with uPlot. Loaded with the first chart.
import uPlot from 'uplot';
import { colour } from './theme.ts';
import { shortNumber } from './formats.ts';

type Values = readonly (number | null)[];

interface LineSeries {
  readonly kind: 'line';
  readonly name: string;
  readonly values: Values;
}

interface CandleSeries {
  readonly kind: 'candles';
  readonly open: Values;
  readonly high: Values;
  readonly low: Values;
  readonly close: Values;
}

export type Series = LineSeries | CandleSeries;

/** An event, such as an alert of a rule. */
export interface Mark {
  readonly x: number;
}

interface Plot {
  readonly x: readonly number[];
  readonly isTime: boolean;
  readonly series: readonly Series[];
  readonly marks: readonly Mark[];
  readonly height: number;
  readonly onPoint: (at: number | undefined) => void;
}

export interface PlotHandle {
  readonly end: () => void;
}

const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], [1, 2], [10, 4]];

const DAY = 86_400;

/** uPlot date formats by tick distance: the label, and its extension where a year or a day begins. */
const DATES = [
  [365 * DAY, '{YYYY}', null, null, null, null, null, null, 1],
  [28 * DAY, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [DAY, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [3_600, '{HH}:{mm}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
  [60, '{HH}:{mm}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', '\n{D} {MMM} {YYYY}', null, '\n{D} {MMM}', null, null, null, 1],
];

export function plot(place: HTMLElement, settings: Plot): PlotHandle {
  const { height, isTime, onPoint, series, x } = settings;
  const candles = series.find((one) => one.kind === 'candles');
  const lines = series.filter((one) => one.kind === 'line');
  const columns =
    candles === undefined ? [] : [candles.open, candles.high, candles.low, candles.close];
  const axis = {
    stroke: colour('ink-soft'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: colour('grid'), width: 1 },
    ticks: { stroke: colour('grid'), width: 1, size: 4 },
  };
  const options: uPlot.Options = {
    width: Math.max(200, place.clientWidth),
    height,
    legend: { show: false },
    scales: { x: { time: isTime } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    axes: [
      { ...axis, space: 70, ...(isTime ? { values: DATES } : {}) },
      { ...axis, side: 1, size: 62, values: (_, splits) => splits.map((one) => shortNumber(one)) },
    ],
    cursor: { points: { size: 6 }, y: false },
    series: [
      {},
      ...columns.map(() => ({ paths: () => null, points: { show: false } })),
      ...lines.map((_, index) => lineOptions(index, x.length)),
    ],
    hooks: {
      draw: [
        (chart) => candles !== undefined && drawCandles(chart, x, candles),
        (chart) => drawMarks(chart, settings.marks),
      ],
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)],
    },
  };
  const data = [
    x,
    ...columns,
    ...lines.map(({ values }) => values),
  ] as unknown as uPlot.AlignedData;
  const chart = new uPlot(options, data, place);
  const resizeObserver = new ResizeObserver(() =>
    chart.setSize({ width: Math.max(200, place.clientWidth), height }),
  );
  resizeObserver.observe(place);
  return {
    end: () => {
      resizeObserver.disconnect();
      chart.destroy();
    },
  };
}

const lineOptions = (index: number, points: number): uPlot.Series => ({
  stroke: colour(`chart-${(index % 6) + 1}`),
  width: 1.5,
  dash: DASHES[index % DASHES.length] ?? [],
  points: { show: points === 1 },
  spanGaps: true,
});

function drawCandles(chart: uPlot, x: readonly number[], candles: CandleSeries): void {
  const { ctx } = chart;
  const [up, down] = [colour('up'), colour('down')];
  const from = chart.valToPos(x[0] ?? 0, 'x', true);
  const to = chart.valToPos(x.at(-1) ?? 0, 'x', true);
  const room = x.length < 2 ? 24 : Math.abs(to - from) / (x.length - 1);
  const width = Math.max(1, Math.min(18, room * 0.62));
  ctx.save();
  x.forEach((place, at) => {
    const [open, high, low, close] = [
      candles.open[at],
      candles.high[at],
      candles.low[at],
      candles.close[at],
    ];
    if (open == null || high == null || low == null || close == null) return;
    const middle = Math.round(chart.valToPos(place, 'x', true));
    const y = (value: number): number => chart.valToPos(value, 'y', true);
    ctx.fillStyle = close >= open ? up : down;
    ctx.fillRect(middle, y(high), 1, Math.max(1, y(low) - y(high)));
    const top = y(Math.max(open, close));
    const size = Math.max(1, y(Math.min(open, close)) - top);
    ctx.fillRect(middle - width / 2, top, width, size);
  });
  ctx.restore();
}

/** Draws a dot at the bottom and a thin vertical line for each mark. */
function drawMarks(chart: uPlot, marks: readonly Mark[]): void {
  const { bbox, ctx } = chart;
  ctx.save();
  for (const { x } of marks) {
    const place = chart.valToPos(x, 'x', true);
    if (place < bbox.left || place > bbox.left + bbox.width) continue;
    ctx.strokeStyle = ctx.fillStyle = colour('bad');
    ctx.globalAlpha = 0.35;
    ctx.beginPath();
    ctx.moveTo(place, bbox.top);
    ctx.lineTo(place, bbox.top + bbox.height);
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.arc(place, bbox.top + bbox.height - 6, 4, 0, Math.PI * 2);
    ctx.fill();
  }
  ctx.restore();
}
