// The unique index of a dataset: key, subkey, date (INTERFACE.md 3.4). Without a date property the
// day of creation takes its place; without key and date every record stands for itself.
import type { Column } from '../store/columns.ts';
import { CREATED_COLUMN } from '../store/columns.ts';
import type { Dataset } from '../store/datasets.ts';
import { identifier, literal } from '../store/duckdb/instance.ts';
import type { DataFile, Table } from '../store/lakeRead.ts';
import { compareValues } from '../store/tableStats.ts';
import type { FileStats } from './parquetFile.ts';

export interface UniqueIndex {
  /** Columns that files are sorted by; empty when there is no index. */
  readonly columns: readonly Column[];
  /** Expressions whose values are unique together, over the columns' own names. */
  readonly terms: readonly string[];
}

export function uniqueIndexOf(dataset: Dataset, table: Table): UniqueIndex {
  const { key, subkey, date } = dataset.mapping;
  if (key === undefined && date === undefined) return { columns: [], terms: [] };
  const names = [key, subkey, date ?? CREATED_COLUMN].filter((name) => name !== undefined);
  const columns = names.flatMap((name) => table.columns.filter((column) => column.name === name));
  const terms = columns.map(({ name }) =>
    name === CREATED_COLUMN ? `CAST(${identifier(name)} AS DATE)` : identifier(name),
  );
  return { columns, terms };
}

export const orderBy = (index: UniqueIndex): string =>
  index.columns.length === 0
    ? ''
    : ` ORDER BY ${index.columns.map(({ name }) => identifier(name)).join(', ')}`;

/**
 * Whether a freshly sorted file repeats an index value: equal ones are neighbours, and `lag` over
 * the file's order streams, so this costs one pass over the index columns.
 */
export const repeatsStatement = (path: string, index: UniqueIndex): string =>
  `SELECT count(*) AS repeats FROM (${repeatedValues(path, index, 'ALL')})`;

/** The index values that a sorted file repeats, as `t0`, `t1` … */
export function repeatedValues(
  path: string,
  index: UniqueIndex,
  each: 'ALL' | 'DISTINCT' = 'DISTINCT',
): string {
  const terms = index.terms.map((term, at) => `${term} AS t${at}, lag(${term}) OVER () AS p${at}`);
  const same = index.terms.map((_, at) => `t${at} = p${at}`).join(' AND ');
  const names = index.terms.map((_, at) => `t${at}`).join(', ');
  return `SELECT ${each === 'DISTINCT' ? 'DISTINCT ' : ''}${names} FROM
    (SELECT ${terms.join(', ')} FROM read_parquet(${literal(path)})) WHERE ${same}`;
}

/** Required values that are missing: null, or empty where the index is text. */
export function lacksIndex(stats: FileStats, index: UniqueIndex): boolean {
  return index.columns.some((column) => {
    const told = stats.columns.get(column.name);
    const empty = column.type === 'varchar' && told?.get('min') === '';
    return Number(told?.get('null_count') ?? 0) > 0 || empty;
  });
}

/** Files of the dataset that may hold an index value of the new file, by catalog statistics. */
export function overlapping(
  files: readonly DataFile[],
  stats: FileStats,
  index: UniqueIndex,
): readonly DataFile[] {
  return files.filter((file) =>
    index.columns.every((column) => {
      if (column.name === CREATED_COLUMN) return true;
      const range = file.ranges.get(column.id);
      const told = stats.columns.get(column.name);
      const [min, max] = [told?.get('min'), told?.get('max')];
      if (min === undefined || max === undefined || !range?.min || !range.max) return true;
      const before = compareValues(column.type, range.max, min) < 0;
      return !before && compareValues(column.type, max, range.min) >= 0;
    }),
  );
}
