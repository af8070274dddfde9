// Moves the journal's rows to Parquet files of the dataset `_SYSTEM.CALLS`: one transaction adds the file and
// removes the rows, so that a line is never in both places or in none.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publishFile } from '../../pipeline/merge/ingest.ts';
import { copyTable, fileStats } from '../../pipeline/batch/parquetFile.ts';
import { orderBy, buildUniqueIndex } from '../../pipeline/batch/uniqueIndex.ts';
import { type BillingDays, monthsBefore } from '../../store/ledger/billingDays.ts';
import { type Clock, isoTime } from '../../store/base/clock.ts';
import { type Column, sqlType, UPDATED_COLUMN } from '../../store/lake/versions/columns.ts';
import { createDataset, createSystemWorkspace } from '../../store/lake/datasetEdits.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { DuckDbPool } from '../../store/duckdb/pool.ts';
import { Failure } from '../../store/base/failure.ts';
import { removeRolledRows, readJournal } from '../../store/ledger/journal.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import { CALLS, SYSTEM_WORKSPACE } from '../../store/lake/systemTables.ts';
import { withWorkFolder } from '../../store/base/workFolder.ts';
import type { Edit } from '../../store/lake/edit.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

export interface JournalParts {
  readonly database: Database;
  readonly lake: Lake;
  readonly pool: DuckDbPool;
  readonly temporary: string;
  readonly clock: Clock;
  readonly days: BillingDays;
  readonly deadlineMs: number;
  /** Whole months retained before the current one. */
  readonly monthsKept: number;
}

/** Rolled when this many calls wait or the oldest is this old. */
const DUE_CALLS = 50_000;
const DUE_MS = 3_600_000;
/** Calls of one file: about 200 MB of lines. */
const FILE_CALLS_MAX = 1_000_000;

const AUTHOR = 'tapedeck journal';

/** Rolls when it is due; returns the count of rolled calls. */
export async function rollWhenDue(parts: JournalParts): Promise<number> {
  const waiting = await parts.database
    .selectFrom('journal')
    .select((select) => [select.fn.sum<number>('calls').as('calls')])
    .select((select) => [select.fn.min('first_ms').as('first')])
    .executeTakeFirst();
  const calls = Number(waiting?.calls ?? 0);
  const ageMs = parts.clock() - Number(waiting?.first ?? parts.clock());
  return calls >= DUE_CALLS || (calls > 0 && ageMs >= DUE_MS) ? rollJournal(parts) : 0;
}

/** Writes the oldest waiting lines to Parquet, and removes months beyond the retention. */
export async function rollJournal(parts: JournalParts): Promise<number> {
  const rows = await readJournal(parts.database);
  let calls = 0;
  const rolled = rows.filter((row) => (calls += row.calls) <= FILE_CALLS_MAX || row === rows[0]);
  const last = rolled.at(-1);
  if (last === undefined) return 0;
  const dataset = await callsDataset(parts);
  const table = await parts.lake.table(dataset.tableId);
  if (table === undefined) throw new Failure('SystemError', 'the journal has no table');
  return withWorkFolder(parts.temporary, async (folder) => {
    const lines = join(folder, 'lines');
    await writeFile(lines, rolled.map(({ text }) => `${text}\n`).join(''), { mode: 0o600 });
    const inserts = await writeLines(parts, dataset, table, lines, folder);
    const edits = [...removals(parts, table), ...inserts];
    const count = rolled.reduce((sum, row) => sum + row.calls, 0);
    const note = { author: AUTHOR, message: `${count} charged calls` };
    await parts.lake.commit(edits, note, (transaction) =>
      removeRolledRows(transaction, last.sequence, rolled.length),
    );
    return count;
  });
}

async function callsDataset({ lake, clock }: JournalParts): Promise<Dataset> {
  const existing = lake.directory.dataset(SYSTEM_WORKSPACE, CALLS.dataset);
  if (existing !== undefined) return existing;
  if (lake.directory.workspace(SYSTEM_WORKSPACE) === undefined) {
    await createSystemWorkspace(lake, SYSTEM_WORKSPACE, clock());
  }
  return createDataset(lake, CALLS, AUTHOR);
}

async function writeLines(
  { clock, deadlineMs, lake, pool }: JournalParts,
  dataset: Dataset,
  table: Table,
  lines: string,
  folder: string,
): Promise<readonly Edit[]> {
  const path = join(folder, 'calls.parquet');
  const values = table.columns.map((column) => `${valueOf(column, clock())} AS ${name(column)}`);
  const members = table.columns.filter((column) => !COMPUTED_COLUMNS.has(column.name));
  const types = members.map((column) => `${literal(column.name)}: '${sqlType(column.type)}'`);
  const read = `read_json(${literal(lines)}, format = 'newline_delimited',
    columns = {timeMs: 'BIGINT', ${types.join(', ')}})`;
  const query = `SELECT ${values.join(', ')} FROM ${read}${orderBy(buildUniqueIndex(dataset, table))}`;
  const statements = [copyTable(query, path, table.columns)];
  const [copied] = await pool.rows({ files: [lines], folder, statements, deadlineMs });
  return publishFile(path, fileStats(copied ?? []), table, lake);
}

const name = (column: Column): string => identifier(column.name);

/** Columns that are computed and not in a line. */
const COMPUTED_COLUMNS = new Set(['time', UPDATED_COLUMN]);

function valueOf(column: Column, nowMs: number): string {
  if (column.name === 'time') return 'make_timestamp(timeMs * 1000)';
  if (column.name === UPDATED_COLUMN) return `TIMESTAMP ${literal(isoTime(nowMs).slice(0, -1))}`;
  return name(column);
}

/** Removes files whose last call is in a month beyond the retention. */
function removals({ clock, days, monthsKept }: JournalParts, table: Table): readonly Edit[] {
  const months = table.columns.find((column) => column.name === 'month');
  const oldest = monthsBefore(days.month(clock()), monthsKept);
  const fileIds = table.files.flatMap(({ id, ranges }) => {
    const newest = ranges.get(months?.id ?? 0)?.max;
    return newest !== null && newest !== undefined && newest < oldest ? [id] : [];
  });
  return fileIds.length === 0 ? [] : [{ kind: 'remove-files', tableId: table.tableId, fileIds }];
}
