// Rewrites stored records for a changed schema: one new file replaces all files of the table. Old
// versions keep their files, with their columns.
import { join } from 'node:path';
import { type Column, sqlType } from '../../store/lake/versions/columns.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import { newUuid } from '../../store/base/random.ts';
import { withVerifiedFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import { type MergeTarget, sameTerms, withTerms } from './reconcile.ts';
import { buildConversion } from './conversions.ts';
import { copyTable, type FileStats, fileStats } from '../batch/parquetFile.ts';
import { REWRITE_RECORDS_MAX } from '../conform/inferredTypes.ts';
import { orderBy, type UniqueIndex } from '../batch/uniqueIndex.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

export interface Rewritten {
  readonly path: string;
  readonly stats: FileStats;
}

/** @throws Failure InvalidBody if the table has more records than may be rewritten. */
export function checkRewritable({ records }: Table): void {
  if (records <= REWRITE_RECORDS_MAX) return;
  const most = `at most ${REWRITE_RECORDS_MAX} may be written again at once`;
  throw new Failure('InvalidBody', `the dataset has ${records} records, ${most}`);
}

/** SQL conversions of the values `s."name"` of stored columns, by the columns' ids. */
export type Conversions = ReadonlyMap<number, string>;

interface Rewriting {
  /** A file of records that replace stored ones. */
  readonly replacedBy?: string;
  /** Conversions that differ from the default ones of the types. */
  readonly conversions?: Conversions;
}

/**
 * Writes the visible records with other columns into the work folder.
 * @param columns of the table after the change; a column keeps its id when its type changes
 */
export async function rewriteStored(
  columns: readonly Column[],
  { bench, files, index, table }: MergeTarget,
  { conversions, replacedBy }: Rewriting = {},
): Promise<Rewritten> {
  checkRewritable(table);
  const path = join(bench.folder, `${newUuid()}.parquet`);
  return withVerifiedFiles(files, table.files, async ({ paths, pathOf }) => {
    const stored = visibleRows(table.files, table.columns, pathOf);
    const rows =
      replacedBy === undefined || index.terms.length === 0
        ? `${stored} AS s`
        : withoutReplaced(stored, replacedBy, index);
    const list = columns.map((column) => {
      const value = conversions?.get(column.id) ?? valueIn(table, column);
      return `${value} AS ${identifier(column.name)}`;
    });
    const query = `SELECT ${list.join(', ')} FROM ${rows}${orderBy(index)}`;
    const { deadlineMs, folder, pool } = bench;
    const statements = [copyTable(query, path, columns, table.records)];
    const [copied] = await pool.rows({ files: paths, folder, statements, deadlineMs });
    return { path, stats: fileStats(copied ?? []) };
  });
}

/** The stored records, as `s`, whose index values are not in a file. */
function withoutReplaced(stored: string, path: string, index: UniqueIndex): string {
  const replacing = withTerms(`read_parquet(${literal(path)})`, index, 'n');
  return `${withTerms(stored, index, 's')} AS s
    WHERE NOT EXISTS (FROM ${replacing} AS n WHERE ${sameTerms(index)})`;
}

/** The value of a stored record in a column of the changed table. */
function valueIn({ columns }: Table, column: Column): string {
  const was = columns.find(({ id }) => id === column.id);
  if (was === undefined) return `CAST(NULL AS ${sqlType(column.type)})`;
  return buildConversion(`s.${identifier(was.name)}`, was.type, column.type);
}
