// Files that the last version which named them let go: told in the transaction that does so, in the
// catalog's own place for it, so that a kill before their removal leaves none of them.
import { catalogTime } from '../catalog/catalogTime.ts';
import type { Database } from '../catalog/database.ts';
import type { Files } from './files.ts';

/** Rows of one statement. */
const ROWS_AT_ONCE = 500;

/** Their rows are gone, and with them their ids: the path is what is removed. */
const NO_ID = -1;

/** In the transaction that lets them go; paths are relative to the lake's root. */
export async function scheduleRemoval(
  transaction: Database,
  paths: readonly string[],
  nowMs: number,
): Promise<void> {
  const schedule_start = catalogTime(nowMs);
  for (let from = 0; from < paths.length; from += ROWS_AT_ONCE) {
    const rows = paths.slice(from, from + ROWS_AT_ONCE).map((path) => {
      return { data_file_id: NO_ID, path, path_is_relative: true, schedule_start };
    });
    await transaction.insertInto('ducklake_files_scheduled_for_deletion').values(rows).execute();
  }
}

export async function endedPaths(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database
    .selectFrom('ducklake_files_scheduled_for_deletion')
    .select('path')
    .execute();
  return new Set(rows.map(({ path }) => path));
}

/** Once they have been removed. */
export async function forgetEnded(database: Database, paths: readonly string[]): Promise<void> {
  for (let from = 0; from < paths.length; from += ROWS_AT_ONCE) {
    await database
      .deleteFrom('ducklake_files_scheduled_for_deletion')
      .where('path', 'in', paths.slice(from, from + ROWS_AT_ONCE))
      .execute();
  }
}

/** What versions let go is forgotten once it is removed; what a store refused to remove is tried again. */
export async function forgetRemoved(
  database: Database,
  files: Pick<Files, 'has' | 'remove' | 'settle'>,
): Promise<void> {
  const ended = await endedPaths(database);
  const [gone, left]: [string[], string[]] = [[], []];
  for (const path of ended) ((await files.has(path)) ? left : gone).push(path);
  await files.remove(left);
  await files.settle(gone);
  await forgetEnded(database, gone);
}
