// Draws the bytes of a chart from the bytes of records: the task of a worker thread.
import { readFileSync } from 'node:fs';
import type { Chart } from './records/chart.ts';
import { isRefusal, type Refusal } from './records/chartColumns.ts';
import type { ChartSize } from './chartLayout.ts';
import { type Choice, toDrawable } from './records/chartPoints.ts';
import { pngChart } from './pngChart.ts';
import { svgChart } from './svgChart.ts';
import { vegaChart } from './vegaChart.ts';

export type PictureFormat = 'svg' | 'png' | 'vega-lite';

/** The options of a chart. */
export interface DrawingOptions {
  readonly format: PictureFormat;
  readonly size: ChartSize;
  readonly title: string;
  /** The caller set the title: nothing is added to it. */
  readonly isTitled: boolean;
  readonly choice: Choice;
}

export interface DrawingTask {
  readonly options: DrawingOptions;
  /** A JSON list of records, or the path of a file that has it. */
  readonly records: Uint8Array | string;
}

export type Drawing =
  { readonly kind: 'picture'; readonly bytes: Uint8Array<ArrayBuffer> } | Refusal;

export function draw({ records, options }: DrawingTask): Drawing {
  const bytes = typeof records === 'string' ? readFileSync(records) : records;
  const rows = JSON.parse(new TextDecoder().decode(bytes)) as readonly Readonly<
    Record<string, unknown>
  >[];
  const drawable = toDrawable(rows, options.choice);
  if (isRefusal(drawable)) return drawable;
  const { column } = drawable;
  const title = [options.title, ...(column === undefined || options.isTitled ? [] : [column])].join(
    ' · ',
  );
  return { kind: 'picture', bytes: paintChart({ ...drawable, title }, options) };
}

/** Returns bytes of their own, which can be transferred to another thread. */
export function paintChart(
  chart: Chart,
  { format, size }: Pick<DrawingOptions, 'format' | 'size'>,
): Uint8Array<ArrayBuffer> {
  if (format === 'png') return new Uint8Array(pngChart(chart, size));
  const text = format === 'svg' ? svgChart(chart, size) : vegaChart(chart, size);
  return new Uint8Array(new TextEncoder().encode(text));
}
