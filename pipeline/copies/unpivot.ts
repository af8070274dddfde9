// Unpivots a wide file, with a column for each symbol, to one record for each cell.
import { join } from 'node:path';
import { Failure } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import { runStatements } from '../batch/batchStatements.ts';
import type { Reading } from '../bytes/reading.ts';
import type { Workbench } from '../bytes/workbench.ts';
import { missingTest } from '../values/missing.ts';
import { rejectStatements } from '../values/rejectedLines.ts';
import { fromClause, type Relation } from '../values/relation.ts';
import { lineInFile } from '../bytes/unreadLines.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

type Wide = NonNullable<Reading['wide']>;

/**
 * Columns that are mapped to properties, or else the first one, are repeated in each record; the others
 * become records. Cells without a value are skipped.
 * @returns the path of the copy, a comma-separated CSV with a header
 * @throws Failure InvalidBody for lines that lack a cell of a column
 */
export async function unpivot(
  relation: Relation,
  reading: Reading & { readonly wide: Wide },
  bench: Workbench,
): Promise<string> {
  if (relation.kind === 'json') {
    throw new Failure('InvalidBody', 'wide: only CSV and Parquet have a column for each of a kind');
  }
  const [unread] = relation.unread?.rejects ?? [];
  if (unread !== undefined) refuseLine(unread.line, unread.error);
  const { wide } = reading;
  const { cells, repeated } = splitColumns(relation, reading);
  if (cells.length === 0) throw new Failure('InvalidBody', 'wide: no column is left for records');
  const clash = repeated.find((name) => [wide.names, wide.values].includes(name));
  if (clash !== undefined) {
    throw new Failure('InvalidBody', `wide: column ${clash} has the name of what cells become`);
  }
  const columns = relation.columns.map(({ name }, at) => ({
    id: at + 1,
    name,
    type: 'varchar' as const,
    nullable: true,
  }));
  const names = cells.map((name) => literal(name)).join(', ');
  const values = cells.map((name) => `CAST(${identifier(name)} AS VARCHAR)`).join(', ');
  const value = identifier(wide.values);
  const rows = `SELECT ${repeated.map((name) => `${identifier(name)}, `).join('')}
    unnest([${names}]) AS ${identifier(wide.names)}, unnest([${values}]) AS ${value}
    FROM ${fromClause(relation, columns, true)}`;
  const hasValue = `nullif(trim(${value}), '') IS NOT NULL AND NOT ${missingTest(value)}`;
  const path = join(bench.folder, newUuid());
  const copy = `COPY (SELECT * FROM (${rows}) WHERE ${hasValue}) TO ${literal(path)}
    (FORMAT csv, HEADER true, DELIMITER ',')`;
  const rejecting = relation.kind === 'csv' ? rejectStatements(1) : [];
  const [, counted, rejected] = await runStatements(bench, relation, [copy, ...rejecting], 1);
  if (Number(counted?.[0]?.['lines'] ?? 0) > 0) {
    const line = lineInFile(relation.lineSteps, Number(rejected?.[0]?.['line']));
    refuseLine(line, String(rejected?.[0]?.['message']).split('\n')[0] ?? '');
  }
  return path;
}

function refuseLine(line: number, why: string): never {
  const what = `line ${line} cannot be split into records: ${why}`;
  throw new Failure('InvalidBody', `wide: ${what}`);
}

function splitColumns(
  { columns }: Relation,
  { columns: mapping = {} }: Reading,
): { readonly repeated: readonly string[]; readonly cells: readonly string[] } {
  const names = columns.map(({ name }) => name);
  const properties = new Map(
    Object.entries(mapping).map(([name, is]) => [name.trim().toLowerCase(), is]),
  );
  const out = names.filter((name) => properties.get(name.toLowerCase()) === null);
  const named = names.filter((name) => typeof properties.get(name.toLowerCase()) === 'string');
  const left = names.filter((name) => !out.includes(name));
  const repeated = named.length > 0 ? named : left.slice(0, 1);
  return { repeated, cells: left.filter((name) => !repeated.includes(name)) };
}
