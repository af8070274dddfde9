// Lists the versions of a dataset: every snapshot that changed it, with its changes (DuckLake 1.0
// specification: what began and ended at a snapshot).
import { parseCatalogTime } from '../../catalog/catalogTime.ts';
import type { Database } from '../../catalog/database.ts';
import { readHorizons } from './history.ts';
import { readSnapshots } from './retention.ts';

interface Version {
  readonly snapshot: number;
  readonly timeMs: number;
  readonly author: string;
  readonly message: string;
  /** Records of files that began, and records that ended; a replaced record counts in both. */
  readonly inserted: number;
  readonly deleted: number;
  /** Files were merged and no record changed. */
  readonly compaction: boolean;
}

/** Author of commits that change files and no records. */
export const COMPACTION_AUTHOR = 'tapedeck compaction';

/**
 * Message of a version that represents removed ones: its commit may be about another dataset, of another
 * account.
 */
const THINNED_MESSAGE = 'versions that were thinned out with age';

/** Lists versions, latest first. */
export async function readVersions(
  database: Database,
  tableId: number,
  limit: number,
  sinceSnapshot = -1,
): Promise<readonly Version[]> {
  const changes = new Map<number, { inserted: number; deleted: number }>();
  const at = (snapshot: number): { inserted: number; deleted: number } => {
    const counts = changes.get(snapshot) ?? { inserted: 0, deleted: 0 };
    changes.set(snapshot, counts);
    return counts;
  };
  const files = await database
    .selectFrom('ducklake_data_file')
    .select(['data_file_id', 'record_count', 'begin_snapshot', 'end_snapshot'])
    .where('table_id', '=', tableId)
    .execute();
  const deletes = await database
    .selectFrom('ducklake_delete_file')
    .select(['data_file_id', 'delete_count', 'begin_snapshot', 'end_snapshot'])
    .where('table_id', '=', tableId)
    .orderBy('begin_snapshot')
    .execute();
  const deletedCounts = new Map<number, number>();
  for (const row of deletes) {
    const before = deletedCounts.get(row.data_file_id) ?? 0;
    at(row.begin_snapshot).deleted += Number(row.delete_count) - before;
    deletedCounts.set(row.data_file_id, Number(row.delete_count));
  }
  for (const row of files) {
    at(row.begin_snapshot).inserted += row.record_count;
    if (row.end_snapshot === null) continue;
    at(row.end_snapshot).deleted += row.record_count - (deletedCounts.get(row.data_file_id) ?? 0);
  }
  for (const edited of await listSchemaEdits(database, tableId)) at(edited);
  // All records that a purge left begin with it; its own count reports the removed ones.
  const horizon = (await readHorizons(database)).get(tableId);
  if (horizon?.reason === 'purged' && changes.has(horizon.snapshot)) {
    changes.set(horizon.snapshot, { inserted: 0, deleted: horizon.records });
  }
  const ownChanges = new Set(changes.keys());
  await mergeIntoRemaining(database, changes);
  const selected = [...changes.keys()]
    .filter((snapshot) => snapshot > sinceSnapshot)
    .sort((a, b) => b - a)
    .slice(0, limit);
  return describe(database, selected, changes, ownChanges);
}

/** Adds changes of removed versions to the next remaining one. */
async function mergeIntoRemaining(
  database: Database,
  changes: Map<number, { inserted: number; deleted: number }>,
): Promise<void> {
  const remaining = (await readSnapshots(database)).map(({ snapshot }) => snapshot);
  const remainingIds = new Set(remaining);
  for (const [snapshot, counts] of Array.from(changes)) {
    if (remainingIds.has(snapshot)) continue;
    changes.delete(snapshot);
    const next = remaining.find((id) => id > snapshot);
    const into = next === undefined ? undefined : changes.get(next);
    if (next !== undefined && into === undefined) changes.set(next, counts);
    if (into === undefined) continue;
    into.inserted += counts.inserted;
    into.deleted += counts.deleted;
  }
}

/** Lists snapshots that created the table or changed its columns or name. */
async function listSchemaEdits(database: Database, tableId: number): Promise<readonly number[]> {
  const tables = await database
    .selectFrom('ducklake_table')
    .select('begin_snapshot')
    .where('table_id', '=', tableId)
    .execute();
  const columns = await database
    .selectFrom('ducklake_column')
    .select(['begin_snapshot', 'end_snapshot'])
    .where('table_id', '=', tableId)
    .execute();
  const deletedCounts = columns.flatMap(({ end_snapshot: at }) => (at === null ? [] : [at]));
  return [...deletedCounts, ...[...tables, ...columns].map((row) => row.begin_snapshot)];
}

/**
 * Describes versions; only those with changes of their own show their commit.
 */
async function describe(
  database: Database,
  snapshots: readonly number[],
  changes: ReadonlyMap<number, { readonly inserted: number; readonly deleted: number }>,
  ownChanges: ReadonlySet<number>,
): Promise<readonly Version[]> {
  if (snapshots.length === 0) return [];
  const rows = await database
    .selectFrom('ducklake_snapshot as s')
    .innerJoin('ducklake_snapshot_changes as c', 'c.snapshot_id', 's.snapshot_id')
    .select(['s.snapshot_id', 's.snapshot_time', 'c.author', 'c.commit_message'])
    .where('s.snapshot_id', 'in', snapshots)
    .orderBy('s.snapshot_id', 'desc')
    .execute();
  return rows.map((row) => ({
    snapshot: row.snapshot_id,
    timeMs: parseCatalogTime(row.snapshot_time),
    author: ownChanges.has(row.snapshot_id) ? (row.author ?? '') : '',
    message: ownChanges.has(row.snapshot_id) ? (row.commit_message ?? '') : THINNED_MESSAGE,
    ...(changes.get(row.snapshot_id) ?? { inserted: 0, deleted: 0 }),
    compaction: ownChanges.has(row.snapshot_id) && row.author === COMPACTION_AUTHOR,
  }));
}
