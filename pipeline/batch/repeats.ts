// Removes repeats from a sorted file with few of them: only the repeated records are read again from the
// source and numbered, and the right one of each is kept. Numbering every record would
// keep DuckDB's sort from running in parallel (docs/contributing/performance.md).
import { join } from 'node:path';
import type { Column } from '../../store/lake/versions/columns.ts';
import { newUuid } from '../../store/base/random.ts';
import { copyTable } from './parquetFile.ts';
import { orderBy, repeatedValues, type UniqueIndex } from './uniqueIndex.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

/** Share of repeats up to which reading only them again is faster. */
export const REPEATS_SHARE_MAX = 0.2;

interface Repeated {
  readonly sorted: string;
  /** SELECT of every record of the source, in its order, with the table's columns. */
  readonly source: string;
  readonly columns: readonly Column[];
  readonly index: UniqueIndex;
  readonly keep: 'first' | 'last';
}

/** Statements that write each index value once to `path`; the last one returns its statistics. */
export function removeRepeats(
  { sorted, source, columns, index, keep }: Repeated,
  folder: string,
  path: string,
): readonly string[] {
  const values = join(folder, `${newUuid()}.parquet`);
  const numbered = join(folder, `${newUuid()}.parquet`);
  const names = columns.map(({ name }) => identifier(name)).join(', ');
  const same = index.terms.map((term, at) => `r.t${at} = ${term}`).join(' AND ');
  const repeated = `EXISTS (FROM read_parquet(${literal(values)}) AS r WHERE ${same})`;
  const order = keep === 'first' ? 'ASC' : 'DESC';
  const chosen = `SELECT ${names} FROM read_parquet(${literal(numbered)})
    QUALIFY row_number() OVER
      (PARTITION BY ${index.terms.join(', ')} ORDER BY _system_number ${order}) = 1`;
  const others = `SELECT ${names} FROM read_parquet(${literal(sorted)}) WHERE NOT ${repeated}`;
  return [
    `COPY (${repeatedValues(sorted, index)}) TO ${literal(values)} (FORMAT parquet)`,
    `COPY (SELECT * FROM (SELECT row_number() OVER () AS _system_number, * FROM (${source}))
      WHERE ${repeated}) TO ${literal(numbered)} (FORMAT parquet)`,
    copyTable(`FROM (${others} UNION ALL ${chosen})${orderBy(index)}`, path, columns),
  ];
}
