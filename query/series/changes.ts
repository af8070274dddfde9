// Finds what changed between two versions of a dataset, by index value. Reads only files and deletes that
// the versions do not share.
import { type Column, UPDATED_COLUMN } from '../../store/lake/versions/columns.ts';
import type { Bound } from '../../store/duckdb/protocol.ts';
import type { DataFile, Table } from '../../store/lake/versions/lakeRead.ts';
import type { PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import { matchesRows, withPending } from '../../store/lake/pushes/pendingSql.ts';
import { FILE_COLUMN, POSITION_COLUMN, visibleRows } from '../../store/lake/versions/tableSql.ts';
import { withOpenFiles } from '../../store/lake/versions/tableFiles.ts';
import { type Bind, makeBind } from '../plan/binding.ts';
import type { SeriesEngine } from './series.ts';
import type { ResolvePath } from '../../store/lake/versions/openFile.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

/** Index values of one kind of change: key, subkey and date, as far as the dataset has them. */
interface Changes {
  readonly inserted: readonly (readonly unknown[])[];
  readonly replaced: readonly (readonly unknown[])[];
  readonly deleted: readonly (readonly unknown[])[];
}

/** Changes of one version that are listed; above it only their number is reported. */
const CHANGES_MAX = 100_000;

/**
 * @param index the columns of the unique index, at least one
 * @param seenRows records that were pushed and seen beside `before`, and are in files of `after`
 */
export async function changesBetween(
  before: Table,
  after: Table,
  index: readonly Column[],
  seenRows: readonly PendingRow[],
  engine: SeriesEngine,
): Promise<Changes> {
  const parts = {
    ended: notIn(before.files, after.files),
    begun: notIn(after.files, before.files),
  };
  const deletesChanges = findDeletesChanges(before.files, after.files);
  const files = [...parts.ended, ...parts.begun, ...deletesChanges.map(({ after: file }) => file)];
  if (files.length === 0) return { inserted: [], replaced: [], deleted: [] };
  const old = deletesChanges.map(({ before: file }) => file);
  const rows = await withOpenFiles(engine.files, [...files, ...old], async ({ paths, pathOf }) => {
    const updated = after.columns.filter(({ name }) => name === UPDATED_COLUMN);
    const columns = [...new Set([...index, ...updated])];
    const parameters: Bound[] = [];
    const bind = makeBind(parameters);
    const deletedRows = deletesChanges.map((pair) => newlyDeleted(pair, columns, pathOf));
    const ended = [visibleRows(parts.ended, columns, pathOf), ...deletedRows];
    const union = `(${ended.map((rows) => `SELECT * FROM ${rows}`).join(' UNION ALL ')})`;
    const seen = withPending(union, columns, index, seenRows, 'true', bind);
    const begun = visibleRows(parts.begun, columns, pathOf);
    const sql = changesSql(seen, begun, index, printSeenTest(columns, seenRows, bind));
    const statements = [sql];
    const question = { files: paths, statements, parameters, deadlineMs: engine.deadlineMs };
    return (await engine.pool.rows(question))[0] ?? [];
  });
  return groupChanges(rows, index);
}

/**
 * Finds what pushed records that are in no version change for readers of a version.
 * @param index the columns of the unique index, at least one
 * @param seenRows those that were seen already, each index value once
 * @param pushed all of them, each index value once
 */
export async function changesPushed(
  { columns: all, files }: Table,
  index: readonly Column[],
  seenRows: readonly PendingRow[],
  pushed: readonly PendingRow[],
  engine: SeriesEngine,
): Promise<Changes> {
  const updated = all.filter(({ name }) => name === UPDATED_COLUMN);
  const columns = [...new Set([...index, ...updated])];
  const rows = await withOpenFiles(engine.files, files, async ({ paths, pathOf }) => {
    const parameters: Bound[] = [];
    const bind = makeBind(parameters);
    const stored = visibleRows(files, columns, pathOf);
    const matches = `(SELECT * FROM ${stored} AS r WHERE ${matchesRows('r', index, pushed, bind)})`;
    const seen = withPending(matches, columns, index, seenRows, 'true', bind);
    const now = withPending(matches, columns, index, pushed, 'true', bind);
    const statements = [changesSql(seen, now, index, 'false')];
    const question = { files: paths, statements, parameters, deadlineMs: engine.deadlineMs };
    return (await engine.pool.rows(question))[0] ?? [];
  });
  return groupChanges(rows, index);
}

function groupChanges(
  rows: readonly Readonly<Record<string, unknown>>[],
  index: readonly Column[],
): Changes {
  const of = (kind: string): readonly (readonly unknown[])[] =>
    rows.filter((row) => row['kind'] === kind).map((row) => index.map((_, at) => row[`i${at}`]));
  return { inserted: of('inserted'), replaced: of('replaced'), deleted: of('deleted') };
}

const notIn = (files: readonly DataFile[], others: readonly DataFile[]): readonly DataFile[] => {
  const otherIds = new Set(others.map(({ id }) => id));
  return files.filter(({ id }) => !otherIds.has(id));
};

interface DeletesChange {
  readonly before: DataFile;
  readonly after: DataFile;
}

/** Files of both versions of which the later one has other deletes. */
function findDeletesChanges(
  before: readonly DataFile[],
  after: readonly DataFile[],
): readonly DeletesChange[] {
  const byId = new Map(before.map((file) => [file.id, file]));
  return after.flatMap((file) => {
    const was = byId.get(file.id);
    return was === undefined || was.deletes?.id === file.deletes?.id
      ? []
      : [{ before: was, after: file }];
  });
}

/** Rows that were visible before and are not any more, of one file. */
function newlyDeleted(
  { before, after }: DeletesChange,
  columns: readonly Column[],
  pathOf: ResolvePath,
): string {
  const list = columns.map(({ name }) => identifier(name)).join(', ');
  const rows = visibleRows([before], columns, pathOf, true);
  const deletes = literal(pathOf(after.deletes?.path ?? ''));
  return `(SELECT ${list} FROM ${rows} AS r WHERE EXISTS (FROM read_parquet(${deletes}) AS gone
    WHERE gone.pos = r.${POSITION_COLUMN} AND parse_filename(gone.file_path) = r.${FILE_COLUMN}))`;
}

/** A pushed record that a stored one replaced at its flush was not deleted: it was never stored. */
function printSeenTest(
  columns: readonly Column[],
  seenRows: readonly PendingRow[],
  bind: Bind,
): string {
  const addedRows = seenRows.filter(({ replaces }) => !replaces);
  return addedRows.length === 0 ? 'false' : matchesRows('a', columns, addedRows, bind);
}

function changesSql(
  seen: string,
  begun: string,
  index: readonly Column[],
  seenTest: string,
): string {
  // Keys of numbered records may be blank; the last column, date or number, never is.
  const same = index.map(
    ({ name }) => `a.${identifier(name)} IS NOT DISTINCT FROM b.${identifier(name)}`,
  );
  const last = identifier(index.at(-1)?.name ?? '');
  const values = index.map(({ name, type }, at) => {
    const value = `coalesce(b.${identifier(name)}, a.${identifier(name)})`;
    const plain = type === 'int64' || type === 'float64' || type === 'boolean';
    return `${plain ? value : `CAST(${value} AS VARCHAR)`} AS i${at}`;
  });
  const updated = identifier(UPDATED_COLUMN);
  return `SELECT CASE WHEN a.${last} IS NULL THEN 'inserted' WHEN b.${last} IS NULL THEN 'deleted'
      ELSE 'replaced' END AS kind, ${values.join(', ')}
    FROM ${seen} AS a FULL JOIN ${begun} AS b ON ${same.join(' AND ')}
    WHERE (a.${updated} IS DISTINCT FROM b.${updated} OR a.${last} IS NULL OR b.${last} IS NULL)
      AND NOT (b.${last} IS NULL AND ${seenTest})
    ORDER BY ALL LIMIT ${CHANGES_MAX}`;
}
