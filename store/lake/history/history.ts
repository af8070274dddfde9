// Limits the history of a dataset. A purge, or the owner's retention, ends the versions before a horizon: a
// row records the horizon for this program, and for every other reader of the lake the table begins there.
import { formatCatalogTime, parseCatalogTime } from '../../catalog/catalogTime.ts';
import type { Database } from '../../catalog/database.ts';
import { Failure } from '../../base/failure.ts';
import { tableFolders } from '../versions/lakeRead.ts';
import { endPushLog } from '../pushes/pushLog.ts';

/** State that a reader sees: the files of a version, and pushes up to a sequence. */
export interface Moment {
  readonly snapshot: number;
  readonly sequence: number;
}

/** `412:1734`. */
export const formatMoment = ({ sequence, snapshot }: Moment): string => `${snapshot}:${sequence}`;

/** A requested moment: a version with pushes up to a sequence, or a time. */
export type AsOf =
  (Moment & { readonly kind: 'snapshot' }) | { readonly kind: 'time'; readonly ms: number };

/** Reason of a horizon. */
type EndReason = 'purged' | 'retention';

export interface Horizon {
  readonly snapshot: number;
  readonly timeMs: number;
  readonly reason: EndReason;
  readonly records: number;
}

/** Reads the horizons of all tables that have one, by table id. */
export async function readHorizons(database: Database): Promise<ReadonlyMap<number, Horizon>> {
  const rows = await database.selectFrom('history_floor').selectAll().execute();
  return new Map(
    rows.map((row) => [
      row.table_id,
      {
        snapshot: row.snapshot_id,
        timeMs: row.time_ms,
        reason: row.reason === 'purged' ? 'purged' : 'retention',
        records: row.records,
      },
    ]),
  );
}

export async function writeHorizon(
  transaction: Database,
  tableId: number,
  { snapshot, timeMs, reason, records }: Horizon,
): Promise<void> {
  await transaction.deleteFrom('history_floor').where('table_id', '=', tableId).execute();
  await transaction
    .insertInto('history_floor')
    .values({ table_id: tableId, snapshot_id: snapshot, time_ms: timeMs, reason, records })
    .execute();
  await endPushLog(transaction, tableId, snapshot);
}

/** Tables of the catalog with lifetimes of rows, by table id. */
const VERSIONED_TABLES = [
  'ducklake_table',
  'ducklake_column',
  'ducklake_data_file',
  'ducklake_delete_file',
] as const;

/**
 * Makes the table begin at a snapshot, in one transaction, and deletes rows that had ended by then. A reader
 * of an older snapshot finds no such table, and so never a part of one.
 * @returns paths of unreferenced files, relative to the lake's root
 */
export async function truncateHistory(
  transaction: Database,
  tableId: number,
  snapshot: number,
): Promise<readonly string[]> {
  const paths = await listEndedPaths(transaction, tableId, snapshot);
  await transaction
    .deleteFrom('ducklake_file_column_stats')
    .where('data_file_id', 'in', (files) =>
      files
        .selectFrom('ducklake_data_file')
        .select('data_file_id')
        .where('table_id', '=', tableId)
        .where('end_snapshot', '<=', snapshot),
    )
    .execute();
  for (const table of VERSIONED_TABLES) {
    await transaction
      .deleteFrom(table)
      .where('table_id', '=', tableId)
      .where('end_snapshot', '<=', snapshot)
      .execute();
    await transaction
      .updateTable(table)
      .set({ begin_snapshot: snapshot })
      .where('table_id', '=', tableId)
      .where('begin_snapshot', '<', snapshot)
      .execute();
  }
  await truncateSchemaVersions(transaction, tableId, snapshot);
  return paths;
}

async function listEndedPaths(
  transaction: Database,
  tableId: number,
  snapshot: number,
): Promise<readonly string[]> {
  const folder = (await tableFolders(transaction)).get(tableId) ?? '';
  const paths: string[] = [];
  for (const table of ['ducklake_data_file', 'ducklake_delete_file'] as const) {
    const rows = await transaction
      .selectFrom(table)
      .select('path')
      .where('table_id', '=', tableId)
      .where('end_snapshot', '<=', snapshot)
      .execute();
    paths.push(...rows.map(({ path }) => `${folder}${path}`));
  }
  return paths;
}

/** Keeps the latest schema version up to the snapshot, and makes it begin there. */
async function truncateSchemaVersions(
  transaction: Database,
  tableId: number,
  snapshot: number,
): Promise<void> {
  const upTo = transaction
    .selectFrom('ducklake_schema_versions')
    .select((select) => [select.fn.max('schema_version').as('version')])
    .where('table_id', '=', tableId)
    .where('begin_snapshot', '<=', snapshot);
  const version = Number((await upTo.executeTakeFirst())?.version ?? 0);
  await transaction
    .deleteFrom('ducklake_schema_versions')
    .where('table_id', '=', tableId)
    .where('schema_version', '<', version)
    .execute();
  await transaction
    .updateTable('ducklake_schema_versions')
    .set({ begin_snapshot: snapshot })
    .where('table_id', '=', tableId)
    .where('schema_version', '=', version)
    .execute();
}

/**
 * Ends a table's versions before the latest one at a time, in one transaction.
 * @returns paths of unreferenced files; undefined when no version had to end
 */
export async function endOlderVersions(
  transaction: Database,
  tableId: number,
  ms: number,
  nowMs: number,
): Promise<readonly string[] | undefined> {
  const snapshot = await findLatestSnapshot(transaction, ms);
  const horizonSnapshot = (await readHorizons(transaction)).get(tableId)?.snapshot ?? -1;
  if (snapshot === undefined || snapshot <= horizonSnapshot) return undefined;
  const horizon = { snapshot, timeMs: nowMs, reason: 'retention', records: 0 } as const;
  await writeHorizon(transaction, tableId, horizon);
  const lastEnd = await findLastChange(transaction, tableId, 'end_snapshot', snapshot);
  if (lastEnd === undefined) return [];
  // Uses the table's own latest version, not the lake's: its first commit is then listed as its own.
  const lastBegin =
    (await findLastChange(transaction, tableId, 'begin_snapshot', snapshot)) ?? lastEnd;
  return truncateHistory(transaction, tableId, Math.max(lastBegin, lastEnd));
}

/** Finds the latest snapshot up to the given one at which a row of the table began, or ended. */
async function findLastChange(
  transaction: Database,
  tableId: number,
  column: 'begin_snapshot' | 'end_snapshot',
  snapshot: number,
): Promise<number | undefined> {
  const snapshots: number[] = [];
  for (const table of VERSIONED_TABLES) {
    const row = await transaction
      .selectFrom(table)
      .select((select) => [select.fn.max(column).as('last')])
      .where('table_id', '=', tableId)
      .where(column, '<=', snapshot)
      .executeTakeFirst();
    if (row?.last !== null && row?.last !== undefined) snapshots.push(Number(row.last));
  }
  return snapshots.length === 0 ? undefined : Math.max(...snapshots);
}

/** 9999-12-31T23:59:59.999Z: later times have another text format. */
const TIME_MAX_MS = 253_402_300_799_999;

/** Finds the latest stored snapshot up to a time. */
export async function findLatestSnapshot(
  database: Database,
  ms: number,
): Promise<number | undefined> {
  const row = await database
    .selectFrom('ducklake_snapshot')
    .select('snapshot_id')
    .where('snapshot_time', '<=', formatCatalogTime(Math.min(ms, TIME_MAX_MS)))
    .orderBy('snapshot_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.snapshot_id;
}

/** Returns the latest snapshot of all; 0 is the first. */
export async function readLatestSnapshot(database: Database): Promise<number> {
  const query = database
    .selectFrom('ducklake_snapshot')
    .select((select) => [select.fn.max('snapshot_id').as('snapshot')]);
  return (await query.executeTakeFirst())?.snapshot ?? 0;
}

/**
 * Resolves the requested moment to a snapshot.
 * @throws Failure InvalidParameter when it never existed, Gone when it has ended.
 */
export async function resolveSnapshot(
  database: Database,
  asOf: AsOf,
  head: number,
  horizon: Horizon | undefined,
): Promise<number> {
  const snapshotId =
    asOf.kind === 'time'
      ? await findLatestSnapshot(database, asOf.ms)
      : await findSnapshot(database, asOf.snapshot);
  if (snapshotId !== undefined && snapshotId >= (horizon?.snapshot ?? 0)) return snapshotId;
  const isAhead = asOf.kind === 'snapshot' && asOf.snapshot > head;
  const isComplete = (await findSnapshot(database, 0)) !== undefined;
  if (isAhead || (asOf.kind === 'time' && snapshotId === undefined && isComplete)) {
    const first = '"asOf" must be a snapshot of this lake or a time after its first one';
    throw new Failure('InvalidParameter', first);
  }
  const requested = asOf.kind === 'snapshot' ? asOf.snapshot : snapshotId;
  throw await endedFailure(database, 'asOf', requested ?? -1, horizon);
}

async function findSnapshot(database: Database, snapshot: number): Promise<number | undefined> {
  const row = await database
    .selectFrom('ducklake_snapshot')
    .select('snapshot_id')
    .where('snapshot_id', '=', snapshot)
    .executeTakeFirst();
  return row?.snapshot_id;
}

const END_REASONS: Readonly<Record<EndReason, string>> = {
  purged: 'was purged',
  retention: 'is older than the history that this dataset keeps',
};

/** Builds the failure of an ended version, with the reason and the first available version. */
async function endedFailure(
  database: Database,
  parameter: string,
  requested: number,
  horizon: Horizon | undefined,
): Promise<Failure> {
  const isBefore = horizon !== undefined && requested < horizon.snapshot;
  const reason = isBefore ? END_REASONS[horizon.reason] : 'was thinned out with age';
  const next = await database
    .selectFrom('ducklake_snapshot')
    .select(['snapshot_id', 'snapshot_time'])
    .where('snapshot_id', '>=', Math.max(requested, horizon?.snapshot ?? 0))
    .orderBy('snapshot_id')
    .limit(1)
    .executeTakeFirst();
  const time = new Date(parseCatalogTime(next?.snapshot_time ?? '')).toISOString();
  const first = `the first available version is ${next?.snapshot_id}, of ${time}`;
  return new Failure('Gone', `"${parameter}" refers to a version that ${reason}: ${first}`);
}

/**
 * Checks that changes since a version can be computed: the version is stored, or the table did not exist yet.
 * Records that were added and removed between two stored versions are lost.
 * @throws Failure Gone otherwise.
 */
export async function checkSince(
  database: Database,
  tableId: number,
  since: number,
  head: number,
  horizon: Horizon | undefined,
): Promise<void> {
  if (since > head) return;
  const existing = await findSnapshot(database, since);
  if (existing !== undefined && existing >= (horizon?.snapshot ?? 0)) return;
  const lastBegin = await findLastChange(database, tableId, 'begin_snapshot', since);
  if (horizon === undefined && lastBegin === undefined) return;
  throw await endedFailure(database, 'since', since, horizon);
}
