// A wide file, with a column for each symbol, written again as one record for each cell.
import { join } from 'node:path';
import { Failure } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import { ask } from '../batch/batchStatements.ts';
import type { Reading } from '../bytes/reading.ts';
import type { Workbench } from '../bytes/workbench.ts';
import { missingTest } from '../values/missing.ts';
import { rejectStatements } from '../values/rejectedLines.ts';
import { fromClause, type Relation } from '../values/relation.ts';
import { lineInFile } from '../bytes/unreadLines.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

type Wide = NonNullable<Reading['wide']>;

/**
 * Columns that are said to be properties, or else the first one, stay in each record; the others become
 * records. Cells without a value are none.
 * @returns the path of the copy, a CSV of a comma and a header
 * @throws Failure InvalidBody for lines that have not a cell for each column
 */
export async function longCopy(
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
  const { cells, kept } = partsOf(relation, reading);
  if (cells.length === 0) throw new Failure('InvalidBody', 'wide: no column is left for records');
  const clash = kept.find((name) => [wide.names, wide.values].includes(name));
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
  const rows = `SELECT ${kept.map((name) => `${identifier(name)}, `).join('')}
    unnest([${names}]) AS ${identifier(wide.names)}, unnest([${values}]) AS ${value}
    FROM ${fromClause(relation, columns, true)}`;
  const given = `nullif(trim(${value}), '') IS NOT NULL AND NOT ${missingTest(value)}`;
  const path = join(bench.folder, newUuid());
  const copy = `COPY (SELECT * FROM (${rows}) WHERE ${given}) TO ${literal(path)}
    (FORMAT csv, HEADER true, DELIMITER ',')`;
  const rejecting = relation.kind === 'csv' ? rejectStatements(1) : [];
  const [, counted, told] = await ask(bench, relation, [copy, ...rejecting], 1);
  if (Number(counted?.[0]?.['lines'] ?? 0) > 0) {
    const line = lineInFile(relation.lineSteps, Number(told?.[0]?.['line']));
    refuseLine(line, String(told?.[0]?.['message']).split('\n')[0] ?? '');
  }
  return path;
}

function refuseLine(line: number, why: string): never {
  const what = `line ${line} can not be told apart into records: ${why}`;
  throw new Failure('InvalidBody', `wide: ${what}`);
}

function partsOf(
  { columns }: Relation,
  { columns: said = {} }: Reading,
): { readonly kept: readonly string[]; readonly cells: readonly string[] } {
  const names = columns.map(({ name }) => name);
  const saidOf = new Map(Object.entries(said).map(([name, is]) => [name.trim().toLowerCase(), is]));
  const out = names.filter((name) => saidOf.get(name.toLowerCase()) === null);
  const named = names.filter((name) => typeof saidOf.get(name.toLowerCase()) === 'string');
  const open = names.filter((name) => !out.includes(name));
  const kept = named.length > 0 ? named : open.slice(0, 1);
  return { kept, cells: open.filter((name) => !kept.includes(name)) };
}
