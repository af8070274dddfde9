// Schedules the removal of files that no version references any more. The schedule is written to DuckLake's
// table in the transaction that drops the last reference, so that a kill before the removal leaves no file.
import { formatCatalogTime } from '../catalog/catalogTime.ts';
import type { Database } from '../catalog/database.ts';
import type { Files } from './files.ts';

/** Rows of one statement. */
const BATCH_ROWS = 500;

/** The files' rows and ids are deleted; files are removed by path. */
const NO_ID = -1;

/** Runs in the transaction that drops the references; paths are relative to the lake's root. */
export async function scheduleRemoval(
  transaction: Database,
  paths: readonly string[],
  nowMs: number,
): Promise<void> {
  const schedule_start = formatCatalogTime(nowMs);
  for (let from = 0; from < paths.length; from += BATCH_ROWS) {
    const rows = paths.slice(from, from + BATCH_ROWS).map((path) => {
      return { data_file_id: NO_ID, path, path_is_relative: true, schedule_start };
    });
    await transaction.insertInto('ducklake_files_scheduled_for_deletion').values(rows).execute();
  }
}

export async function readTombstones(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database
    .selectFrom('ducklake_files_scheduled_for_deletion')
    .select('path')
    .execute();
  return new Set(rows.map(({ path }) => path));
}

/** Deletes the schedule of removed files. */
export async function deleteTombstones(
  database: Database,
  paths: readonly string[],
): Promise<void> {
  for (let from = 0; from < paths.length; from += BATCH_ROWS) {
    await database
      .deleteFrom('ducklake_files_scheduled_for_deletion')
      .where('path', 'in', paths.slice(from, from + BATCH_ROWS))
      .execute();
  }
}

/** Retries the removal of scheduled files, and deletes the schedule of removed ones. */
export async function retryRemovals(
  database: Database,
  files: Pick<Files, 'has' | 'remove' | 'syncRemovals'>,
): Promise<void> {
  const ended = await readTombstones(database);
  const [removed, remaining]: [string[], string[]] = [[], []];
  for (const path of ended) ((await files.has(path)) ? remaining : removed).push(path);
  await files.remove(remaining);
  await files.syncRemovals(removed);
  await deleteTombstones(database, removed);
}
