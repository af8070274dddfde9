// A line of values as characters of a terminal: each has two by four dots.

import type { Point } from '../../query/charts/chartLayout.ts';

interface ChartSize {
  /** Characters, the scale at the left included. */
  readonly width: number;
  readonly height: number;
}

const BLANK = 0x2800;
/** Bits of a character's dots, by column and row. */
const DOTS = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

/** Lines of text: the chart with its scale, then the first and the last label. */
export function brailleChart(points: readonly Point[], { height, width }: ChartSize): string[] {
  const values = points.map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const scale = [most, (most + least) / 2, least].map(spelled);
  const margin = Math.max(...scale.map((text) => text.length)) + 1;
  const columns = Math.max(1, width - margin);
  const rows = dotRows(values, { columns, height, least, most });
  const lines = rows.map((row, at) => `${labelAt(scale, at, height).padStart(margin - 1)} ${row}`);
  const [first = '', last = ''] = [points[0]?.label, points.at(-1)?.label];
  const gap = Math.max(1, columns - first.length - last.length);
  return [...lines, `${' '.repeat(margin)}${first}${' '.repeat(gap)}${last}`];
}

interface Area {
  readonly columns: number;
  readonly height: number;
  readonly least: number;
  readonly most: number;
}

function dotRows(values: readonly number[], { columns, height, least, most }: Area): string[] {
  const cells = Array.from({ length: height }, () => new Array<number>(columns).fill(BLANK));
  const [wide, high] = [columns * 2, height * 4];
  const rowOf = (value: number): number =>
    most === least ? high / 2 : Math.round(((most - value) / (most - least)) * (high - 1));
  let before: number | undefined;
  for (let x = 0; x < wide; x += 1) {
    const at = values.length === 1 ? 0 : Math.round((x / (wide - 1)) * (values.length - 1));
    const row = rowOf(values[at] ?? least);
    // A steep line has no holes.
    const from = Math.min(row, before ?? row);
    for (let y = from; y <= Math.max(row, before ?? row); y += 1) setDot(cells, x, y);
    before = row;
  }
  return cells.map((row) => String.fromCodePoint(...row));
}

function setDot(cells: readonly number[][], x: number, y: number): void {
  const row = cells[Math.min(cells.length - 1, y >> 2)];
  const bit = DOTS[x & 1 ? 1 : 0][(y & 3) as 0 | 1 | 2 | 3];
  if (row !== undefined) row[x >> 1] = (row[x >> 1] ?? BLANK) | bit;
}

function labelAt(
  [top = '', middle = '', bottom = '']: readonly string[],
  at: number,
  height: number,
): string {
  if (at === 0) return top;
  if (at === height - 1) return bottom;
  return height >= 5 && at === height >> 1 ? middle : '';
}

/** As many digits as tell values of this size apart. */
const spelled = (value: number): string =>
  Math.abs(value) >= 1_000
    ? value.toFixed(0)
    : Math.abs(value) >= 1
      ? value.toFixed(2)
      : value.toPrecision(3);
