// Draws lines of values as braille characters on a terminal: each has two by four dots.
import type { Chart, Line } from '../../query/charts/records/chart.ts';
import { truncateTo, widthOf } from './terminalText.ts';

interface ChartSize {
  /** Characters, including the scale at the left. */
  readonly width: number;
  readonly height: number;
}

const BLANK = 0x2800;
/** Bits of a character's dots, by column and row. */
const DOTS = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

/** Drawn and skipped columns of dots of each line: a terminal may have no colours. */
const DASHES = [
  [1, 0],
  [5, 2],
  [1, 1],
  [2, 2],
  [8, 3],
  [1, 3],
  [3, 1],
  [2, 4],
] as const;
/** Characters of a line's name below the chart. */
const NAME_MAX = 40;

/**
 * Returns lines of text: the chart with its scale, then the first and the last label. If there are several
 * lines, each has a number, at the height where it ends, and before its name below the chart.
 */
export function brailleChart(
  { labels, lines }: Pick<Chart, 'labels' | 'lines'>,
  { height, width }: ChartSize,
): string[] {
  const [least, most] = endsOf(lines);
  const scale = [most, most / 2 + least / 2, least].map(spelled);
  const margin = Math.max(...scale.map((text) => text.length)) + 1;
  const rowOf = (value: number): number => {
    const share = most === least ? 0.5 : (most / 2 - value / 2) / (most / 2 - least / 2);
    return Math.round(share * (height * 4 - 1));
  };
  const marks = lines.length > 1 ? marksOf(lines, height, rowOf) : [];
  const ends = Math.max(0, ...marks.map((mark) => mark.length));
  const columns = Math.max(1, width - margin - ends);
  const cells = Array.from({ length: height }, () => new Array<number>(columns).fill(BLANK));
  for (const [at, line] of lines.entries()) drawLine(cells, line, at, rowOf);
  const [first = '', last = ''] = [labels[0], labels.length > 1 ? labels.at(-1) : undefined];
  const gap = Math.max(1, columns - widthOf(first) - widthOf(last));
  return [
    ...cells.map((row, at) => {
      const label = labelAt(scale, at, height).padStart(margin - 1);
      return `${label} ${String.fromCodePoint(...row)}${marks[at] ?? ''}`;
    }),
    `${' '.repeat(margin)}${first}${' '.repeat(gap)}${last}`,
    ...(lines.length > 1 ? legendOf(lines, width, margin) : []),
  ];
}

function endsOf(lines: readonly Line[]): readonly [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const value of lines.flatMap(({ values }) => values)) {
    if (value === undefined) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return least > most ? [0, 0] : [least, most];
}

/** Draws all values of a column of dots, so that no peak is lost. */
function drawLine(
  cells: readonly number[][],
  { values }: Line,
  line: number,
  rowOf: (value: number) => number,
): void {
  const wide = (cells[0]?.length ?? 0) * 2;
  const placeAt = (x: number): number =>
    values.length === 1 ? 0 : Math.round((x / (wide - 1)) * (values.length - 1));
  const [on, off] = DASHES[line % DASHES.length] ?? DASHES[0];
  let before: number | undefined;
  for (let x = 0; x < wide; x += 1) {
    const from = placeAt(x);
    const to = Math.max(from + 1, Math.min(values.length, placeAt(x + 1)));
    const rows = values
      .slice(from, to)
      .flatMap((value) => (value === undefined ? [] : rowOf(value)));
    if (rows.length === 0) {
      before = undefined;
      continue;
    }
    // Connect to the previous column, so that a steep line has no gaps.
    const all = before === undefined ? rows : [...rows, before];
    if (x % (on + off) < on) {
      const end = all.reduce((one, other) => Math.max(one, other));
      for (let y = all.reduce((one, other) => Math.min(one, other)); y <= end; y += 1) {
        setDot(cells, x, y);
      }
    }
    before = values[to - 1] === undefined ? undefined : rows.at(-1);
  }
}

function setDot(cells: readonly number[][], x: number, y: number): void {
  const row = cells[Math.min(cells.length - 1, y >> 2)];
  const bit = DOTS[x & 1 ? 1 : 0][(y & 3) as 0 | 1 | 2 | 3];
  if (row !== undefined) row[x >> 1] = (row[x >> 1] ?? BLANK) | bit;
}

/** Returns for each row the numbers of the lines that end there. */
function marksOf(
  lines: readonly Line[],
  height: number,
  rowOf: (value: number) => number,
): readonly string[] {
  const marks = new Array<string>(height).fill('');
  for (const [at, { values }] of lines.entries()) {
    const last = values.findLast((value) => value !== undefined);
    if (last === undefined) continue;
    const row = Math.min(height - 1, rowOf(last) >> 2);
    marks[row] = `${marks[row] === '' ? ' ' : `${marks[row]},`}${at + 1}`;
  }
  return marks;
}

/** Formats the names of the lines in as many rows as needed. */
function legendOf(lines: readonly Line[], width: number, margin: number): readonly string[] {
  const rows: string[] = [];
  for (const [at, { name }] of lines.entries()) {
    const entry = `${at + 1} ${truncateTo(name, NAME_MAX)}`;
    const row = rows.at(-1);
    if (row !== undefined && widthOf(row) + 2 + widthOf(entry) <= width) {
      rows[rows.length - 1] = `${row}  ${entry}`;
    } else rows.push(' '.repeat(margin) + entry);
  }
  return rows;
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

/** Formats a value with digits that fit its size. */
const spelled = (value: number): string =>
  Math.abs(value) >= 1_000
    ? value.toFixed(0)
    : Math.abs(value) >= 1
      ? value.toFixed(2)
      : value.toPrecision(3);
