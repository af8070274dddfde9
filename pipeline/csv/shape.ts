// The shape of rows: their number of columns, the delimiter that splits them, and the kind of their values.
import { inferType } from '../values/infer.ts';

export type Rows = readonly (readonly string[])[];

/** The first rows, split by one delimiter. */
interface Split {
  readonly delimiter: string;
  readonly rows: Rows;
}

/** The most frequent number of columns, and the share of rows that have it. */
export function commonWidth(rows: Rows): { readonly width: number; readonly share: number } {
  const counts = new Map<number, number>();
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
  const [most] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0]);
  return { width: most?.[0] ?? 0, share: (most?.[1] ?? 0) / Math.max(1, rows.length) };
}

/**
 * The split with the most even rows, header included, and the most columns; undefined if no delimiter
 * splits the text.
 */
export function bestSplit(splits: readonly Split[]): Split | undefined {
  const ratings = splits.map((split) => {
    const { width } = commonWidth(split.rows.slice(1));
    const share = shareBelow(split.rows, width);
    const header = split.rows[0]?.length ?? 0;
    const only = split.rows.length < 2;
    const columns = only ? header : width;
    return { split, columns, even: only || header === width, share: only ? 1 : share };
  });
  const [best] = ratings
    .filter(({ columns }) => columns > 1)
    .sort(
      (a, b) =>
        Number(b.even && b.share > STEADY_SHARE) - Number(a.even && a.share > STEADY_SHARE) ||
        Number(b.share > STEADY_SHARE) - Number(a.share > STEADY_SHARE) ||
        Number(b.even) - Number(a.even) ||
        Number(hasDimensions(b.split)) - Number(hasDimensions(a.split)) ||
        b.columns - a.columns,
    );
  // One column of words with commas in them: rows differ in their number.
  const prose = best !== undefined && !best.even && best.share <= STEADY_SHARE;
  const isProse = prose && best.split.rows[0]?.length === 1;
  return isProse && !hasTable(best.split.rows, best.columns) ? undefined : best?.split;
}

/** Whether rows of one width, with a column of numbers or dates, occur among titles and notes. */
function hasTable(rows: Rows, width: number): boolean {
  const [, ...records] = rows.filter(({ length }) => length === width);
  if (records.length < 2 || records.length * 2 < rows.length - 2) return false;
  const kinds = Array.from({ length: width }, (_, at) =>
    detectKind(records.filter((row) => !isNames(row)).map((row) => row[at] ?? '')),
  );
  return kinds.some((kind) => kind !== 'text');
}

const isNames = (row: readonly string[]): boolean =>
  row.every((cell) => detectKind([cell.trim()]) === 'text');

/** Detects tabs by a first cell with dimensions as Eurostat writes them: `freq,unit,geo\\TIME_PERIOD`. */
const hasDimensions = ({ delimiter, rows }: Split): boolean =>
  delimiter === '\t' && /^[\w,]*\\\w+$/.test(rows[0]?.[0] ?? '');

/** The share of rows with this width from the first such row on: titles are above it. */
function shareBelow(rows: Rows, width: number): number {
  const below = rows.slice(
    Math.max(
      0,
      rows.findIndex(({ length }) => length === width),
    ),
  );
  const like = below.filter(({ length }) => length === width).length;
  return like * 2 < rows.length ? 0 : like / below.length;
}

/** Share of rows that a delimiter must split evenly. */
export const STEADY_SHARE = 0.8;

/** Whether the last cell of nearly all rows is empty; false for no row. */
export const endEmpty = (rows: Rows): boolean =>
  rows.length > 0 && rows.filter((row) => row.at(-1) === '').length >= STEADY_SHARE * rows.length;

/** Whether rows split by blanks are columns: some of them numbers or dates. */
export function isAligned(rows: Rows): boolean {
  const { width, share } = commonWidth(rows);
  if (rows.length < 2 || width < 2 || share < 1) return false;
  const [header = [], ...records] = rows;
  return header.some((name, at) => {
    const values = records.map((row) => row[at] ?? '');
    return detectKind([name]) === 'text' && detectKind(values) !== 'text';
  });
}

export type Kind = 'number' | 'date' | 'boolean' | 'text';

export function detectKind(values: readonly string[]): Kind {
  const { type, format } = inferType(values).property;
  if (format !== undefined) return 'date';
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'boolean' ? 'boolean' : 'text';
}
