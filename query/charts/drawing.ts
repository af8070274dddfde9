// The bytes of a picture from the bytes of records: what the thread of charts does with one task.
import { readFileSync } from 'node:fs';
import type { ChartSize } from './chartLayout.ts';
import { drawableOf } from './chartPoints.ts';
import { pngChart } from './pngChart.ts';
import { svgChart } from './svgChart.ts';

export type PictureFormat = 'svg' | 'png';

/** How a picture is wanted. */
export interface Wish {
  readonly format: PictureFormat;
  readonly size: ChartSize;
  readonly title: string;
  /** The title is the caller's own: nothing is added to it. */
  readonly isTitled: boolean;
  /** The one that is drawn; undefined for the one that is most likely meant. */
  readonly column: string | undefined;
  /** The one that must be alike in all records, where there is one. */
  readonly key?: string | undefined;
}

export interface DrawingTask {
  readonly wish: Wish;
  /** A JSON list of records, or the file that has it. */
  readonly records: Uint8Array | string;
}

export type Drawing =
  | { readonly kind: 'picture'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'refused'; readonly about: 'column' | 'records'; readonly rule: string };

export function draw({ records, wish }: DrawingTask): Drawing {
  const bytes = typeof records === 'string' ? readFileSync(records) : records;
  const rows = JSON.parse(new TextDecoder().decode(bytes)) as readonly Readonly<
    Record<string, unknown>
  >[];
  const drawable = drawableOf(rows, wish);
  if (drawable.kind === 'refused') return drawable;
  const { column, points } = drawable;
  const title = [wish.title, ...(column === undefined || wish.isTitled ? [] : [column])].join(
    ' · ',
  );
  const { format, size } = wish;
  const picture =
    format === 'png'
      ? pngChart(title, points, size)
      : new TextEncoder().encode(svgChart(title, points, size));
  return { kind: 'picture', bytes: new Uint8Array(picture) };
}
