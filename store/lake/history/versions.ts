// The versions of a dataset: every snapshot that changed it, with what it did (DuckLake 1.0
// specification: what began and ended at a snapshot).
import { timeOfCatalog } from '../../catalog/catalogTime.ts';
import type { Database } from '../../catalog/database.ts';
import { readHorizons } from './history.ts';
import { readSnapshots } from './retention.ts';

interface Version {
  readonly snapshot: number;
  readonly timeMs: number;
  readonly author: string;
  readonly message: string;
  /** Records of files that began, and records that ended: a replaced one is in both. */
  readonly inserted: number;
  readonly deleted: number;
  /** Files were put together and no record changed. */
  readonly compaction: boolean;
}

/** Author of commits that change files and no records. */
export const COMPACTION_AUTHOR = 'tapedeck compaction';

/** Such a version is the lake's: its commit may be about another dataset, of another account. */
const THINNED = 'versions that were thinned out with age';

/** The newest versions first. */
export async function readVersions(
  database: Database,
  tableId: number,
  limit: number,
  sinceSnapshot = -1,
): Promise<readonly Version[]> {
  const changes = new Map<number, { inserted: number; deleted: number }>();
  const at = (snapshot: number): { inserted: number; deleted: number } => {
    const known = changes.get(snapshot) ?? { inserted: 0, deleted: 0 };
    changes.set(snapshot, known);
    return known;
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
  const gone = new Map<number, number>();
  for (const row of deletes) {
    const before = gone.get(row.data_file_id) ?? 0;
    at(row.begin_snapshot).deleted += Number(row.delete_count) - before;
    gone.set(row.data_file_id, Number(row.delete_count));
  }
  for (const row of files) {
    at(row.begin_snapshot).inserted += row.record_count;
    if (row.end_snapshot === null) continue;
    at(row.end_snapshot).deleted += row.record_count - (gone.get(row.data_file_id) ?? 0);
  }
  for (const edited of await editsOf(database, tableId)) at(edited);
  // All that a purge left begins with it; what it did is told by its own count.
  const horizon = (await readHorizons(database)).get(tableId);
  if (horizon?.reason === 'purged' && changes.has(horizon.snapshot)) {
    changes.set(horizon.snapshot, { inserted: 0, deleted: horizon.records });
  }
  const own = new Set(changes.keys());
  await intoKept(database, changes);
  const wanted = [...changes.keys()]
    .filter((snapshot) => snapshot > sinceSnapshot)
    .sort((a, b) => b - a)
    .slice(0, limit);
  return describe(database, wanted, changes, own);
}

/** Changes of versions that have gone belong to the next one that is left. */
async function intoKept(
  database: Database,
  changes: Map<number, { inserted: number; deleted: number }>,
): Promise<void> {
  const kept = (await readSnapshots(database)).map(({ snapshot }) => snapshot);
  const known = new Set(kept);
  for (const [snapshot, counts] of Array.from(changes)) {
    if (known.has(snapshot)) continue;
    changes.delete(snapshot);
    const next = kept.find((id) => id > snapshot);
    const into = next === undefined ? undefined : changes.get(next);
    if (next !== undefined && into === undefined) changes.set(next, counts);
    if (into === undefined) continue;
    into.inserted += counts.inserted;
    into.deleted += counts.deleted;
  }
}

/** Snapshots that made the table or changed its columns or name. */
async function editsOf(database: Database, tableId: number): Promise<readonly number[]> {
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
  const gone = columns.flatMap(({ end_snapshot: at }) => (at === null ? [] : [at]));
  return [...gone, ...[...tables, ...columns].map((row) => row.begin_snapshot)];
}

/** Of a version that thinning left its changes to, only the `own` ones are told by their commit. */
async function describe(
  database: Database,
  snapshots: readonly number[],
  changes: ReadonlyMap<number, { readonly inserted: number; readonly deleted: number }>,
  own: ReadonlySet<number>,
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
    timeMs: timeOfCatalog(row.snapshot_time),
    author: own.has(row.snapshot_id) ? (row.author ?? '') : '',
    message: own.has(row.snapshot_id) ? (row.commit_message ?? '') : THINNED,
    ...(changes.get(row.snapshot_id) ?? { inserted: 0, deleted: 0 }),
    compaction: own.has(row.snapshot_id) && row.author === COMPACTION_AUTHOR,
  }));
}
