// Thins old versions: keeps all of the last day, then one an hour, then one a day. Rows that no remaining
// version needs are removed in one transaction, and their files after readers had time to finish.
import { parseCatalogTime } from '../../catalog/catalogTime.ts';
import type { Database } from '../../catalog/database.ts';
import { tableFolders } from '../versions/lakeRead.ts';

/** Retention of versions; after `dailyMs` only the latest version is kept. */
export interface RetentionPolicy {
  readonly allMs: number;
  readonly hourlyMs: number;
  readonly dailyMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Limit of ids of one statement. */
const BATCH_SIZE = 500;

interface Snapshot {
  readonly snapshot: number;
  readonly timeMs: number;
}

/** Lists the snapshots to remove: all but the latest of each hour or day of UTC, by age. */
export function listExpiredSnapshots(
  snapshots: readonly Snapshot[],
  nowMs: number,
  keep: RetentionPolicy,
): readonly number[] {
  const newest = Math.max(...snapshots.map(({ snapshot }) => snapshot));
  const last = new Map<string, number>();
  const slots = snapshots.map(({ snapshot, timeMs }) => {
    const slot = toSlot(snapshot, timeMs, nowMs - timeMs, keep);
    if (slot !== undefined) last.set(slot, Math.max(last.get(slot) ?? -1, snapshot));
    return { snapshot, slot };
  });
  return slots
    .filter(({ snapshot, slot }) => snapshot !== newest && last.get(slot ?? '') !== snapshot)
    .map(({ snapshot }) => snapshot);
}

/** Returns the slot of a snapshot, whose latest snapshot is kept; undefined when none is. */
function toSlot(
  snapshot: number,
  timeMs: number,
  ageMs: number,
  keep: RetentionPolicy,
): string | undefined {
  if (ageMs <= keep.allMs) return `snapshot ${snapshot}`;
  if (ageMs <= keep.hourlyMs) return `hour ${Math.floor(timeMs / HOUR_MS)}`;
  return ageMs <= keep.dailyMs ? `day ${Math.floor(timeMs / DAY_MS)}` : undefined;
}

export async function readSnapshots(database: Database): Promise<readonly Snapshot[]> {
  const rows = await database
    .selectFrom('ducklake_snapshot')
    .select(['snapshot_id', 'snapshot_time'])
    .orderBy('snapshot_id')
    .execute();
  return rows.map((row) => ({
    snapshot: row.snapshot_id,
    timeMs: parseCatalogTime(row.snapshot_time),
  }));
}

/**
 * Removes snapshots, and every file that no other snapshot needs, in one transaction.
 * @returns paths of those files, relative to the lake's root
 */
export async function removeSnapshots(
  transaction: Database,
  expired: readonly number[],
): Promise<readonly string[]> {
  for (const table of ['ducklake_snapshot', 'ducklake_snapshot_changes'] as const) {
    for (let from = 0; from < expired.length; from += BATCH_SIZE) {
      const ids = expired.slice(from, from + BATCH_SIZE);
      await transaction.deleteFrom(table).where('snapshot_id', 'in', ids).execute();
    }
  }
  const remaining = (await readSnapshots(transaction)).map(({ snapshot }) => snapshot);
  const folders = await tableFolders(transaction);
  const data = await findEndedFiles(transaction, 'ducklake_data_file', 'data_file_id', remaining);
  const deletes = await findEndedFiles(
    transaction,
    'ducklake_delete_file',
    'delete_file_id',
    remaining,
  );
  for (let from = 0; from < data.length; from += BATCH_SIZE) {
    const ids = data.slice(from, from + BATCH_SIZE).map(({ id }) => id);
    for (const table of ['ducklake_data_file', 'ducklake_file_column_stats'] as const) {
      await transaction.deleteFrom(table).where('data_file_id', 'in', ids).execute();
    }
  }
  for (let from = 0; from < deletes.length; from += BATCH_SIZE) {
    const ids = deletes.slice(from, from + BATCH_SIZE).map(({ id }) => id);
    await transaction
      .deleteFrom('ducklake_delete_file')
      .where('delete_file_id', 'in', ids)
      .execute();
  }
  return [...data, ...deletes].map(({ tableId, path }) => `${folders.get(tableId)}${path}`);
}

interface EndedFile {
  readonly id: number;
  readonly tableId: number;
  readonly path: string;
}

/** Finds files whose lifetime, from `begin` to before `end`, contains no remaining snapshot. */
async function findEndedFiles(
  transaction: Database,
  table: 'ducklake_data_file' | 'ducklake_delete_file',
  id: 'data_file_id' | 'delete_file_id',
  remaining: readonly number[],
): Promise<readonly EndedFile[]> {
  const rows = await transaction
    .selectFrom(table)
    .select(['table_id', 'path', 'begin_snapshot', 'end_snapshot'])
    .select((select) => select.ref(id as 'data_file_id').as('id'))
    .where('end_snapshot', 'is not', null)
    .execute();
  return rows
    .filter((row) => !hasNumberIn(remaining, row.begin_snapshot, Number(row.end_snapshot)))
    .map((row) => ({ id: row.id, tableId: row.table_id, path: row.path }));
}

/** Whether a sorted list has a number in `[from, until)`. */
function hasNumberIn(list: readonly number[], from: number, until: number): boolean {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return (list[low] ?? Number.MAX_SAFE_INTEGER) < until;
}
