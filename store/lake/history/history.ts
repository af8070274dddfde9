// Where the history of a dataset begins. A purge, or the owner's retention, ends what was before a
// version: for us by a row that says so, for every other reader of the lake because the table
// begins there.
import { catalogTime, timeOfCatalog } from '../../catalog/catalogTime.ts';
import type { Database } from '../../catalog/database.ts';
import { Failure } from '../../base/failure.ts';
import { tableFolders } from '../versions/lakeRead.ts';
import { endPushes } from '../pushes/pushLog.ts';

/** What a reader sees at one time: the files of a version, and what was pushed up to a sequence. */
export interface Moment {
  readonly snapshot: number;
  readonly sequence: number;
}

/** `412:1734`. */
export const momentText = ({ sequence, snapshot }: Moment): string => `${snapshot}:${sequence}`;

/** A moment to read: a version with what was pushed up to a sequence, or a time. */
export type AsOf =
  (Moment & { readonly kind: 'snapshot' }) | { readonly kind: 'time'; readonly ms: number };

/** Why there is nothing before a horizon. */
type EndReason = 'purged' | 'retention';

export interface Horizon {
  readonly snapshot: number;
  readonly timeMs: number;
  readonly reason: EndReason;
  readonly records: number;
}

/** The horizons of all tables that have one, by table id. */
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
  await endPushes(transaction, tableId, snapshot);
}

/** Rows with a life that belong to one table. */
const LIVES = [
  'ducklake_table',
  'ducklake_column',
  'ducklake_data_file',
  'ducklake_delete_file',
] as const;

/**
 * In one transaction: the table begins at a snapshot, and what had ended by then goes. A reader of
 * an older snapshot finds no such table, and so never a part of one.
 * @returns paths of files that nothing names any more, relative to the lake's root
 */
export async function beginTable(
  transaction: Database,
  tableId: number,
  snapshot: number,
): Promise<readonly string[]> {
  const paths = await endedPaths(transaction, tableId, snapshot);
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
  for (const table of LIVES) {
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
  await beginSchema(transaction, tableId, snapshot);
  return paths;
}

async function endedPaths(
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

/** Of the schema versions up to the snapshot the last one stays, and begins there too. */
async function beginSchema(
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
 * In one transaction: a table's versions before the one that was the newest at a time end.
 * @returns paths of its files that nothing names any more; undefined when nothing had to end
 */
export async function endOlder(
  transaction: Database,
  tableId: number,
  ms: number,
  nowMs: number,
): Promise<readonly string[] | undefined> {
  const snapshot = await newestSnapshot(transaction, ms);
  const known = (await readHorizons(transaction)).get(tableId)?.snapshot ?? -1;
  if (snapshot === undefined || snapshot <= known) return undefined;
  const horizon = { snapshot, timeMs: nowMs, reason: 'retention', records: 0 } as const;
  await writeHorizon(transaction, tableId, horizon);
  const ended = await lastOf(transaction, tableId, 'end_snapshot', snapshot);
  if (ended === undefined) return [];
  // Its own last version rather than the lake's: what it began with is told as its own commit.
  const begun = (await lastOf(transaction, tableId, 'begin_snapshot', snapshot)) ?? ended;
  return beginTable(transaction, tableId, Math.max(begun, ended));
}

/** The newest snapshot up to the given one at which something of the table began, or ended. */
async function lastOf(
  transaction: Database,
  tableId: number,
  what: 'begin_snapshot' | 'end_snapshot',
  snapshot: number,
): Promise<number | undefined> {
  const found: number[] = [];
  for (const table of LIVES) {
    const row = await transaction
      .selectFrom(table)
      .select((select) => [select.fn.max(what).as('last')])
      .where('table_id', '=', tableId)
      .where(what, '<=', snapshot)
      .executeTakeFirst();
    if (row?.last !== null && row?.last !== undefined) found.push(Number(row.last));
  }
  return found.length === 0 ? undefined : Math.max(...found);
}

/** 9999-12-31T23:59:59.999Z: later ones have another spelling. */
const TIME_MAX_MS = 253_402_300_799_999;

/** The newest snapshot that is left of those up to a time. */
export async function newestSnapshot(database: Database, ms: number): Promise<number | undefined> {
  const row = await database
    .selectFrom('ducklake_snapshot')
    .select('snapshot_id')
    .where('snapshot_time', '<=', catalogTime(Math.min(ms, TIME_MAX_MS)))
    .orderBy('snapshot_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.snapshot_id;
}

/** The newest snapshot of all; 0 is the first. */
export async function headOf(database: Database): Promise<number> {
  const newest = database
    .selectFrom('ducklake_snapshot')
    .select((select) => [select.fn.max('snapshot_id').as('snapshot')]);
  return (await newest.executeTakeFirst())?.snapshot ?? 0;
}

/**
 * The snapshot that a question means.
 * @throws Failure InvalidParameter when there never was one, Gone when it has ended.
 */
export async function snapshotAsked(
  database: Database,
  asOf: AsOf,
  head: number,
  horizon: Horizon | undefined,
): Promise<number> {
  const found =
    asOf.kind === 'time'
      ? await newestSnapshot(database, asOf.ms)
      : await keptSnapshot(database, asOf.snapshot);
  if (found !== undefined && found >= (horizon?.snapshot ?? 0)) return found;
  const ahead = asOf.kind === 'snapshot' && asOf.snapshot > head;
  const whole = (await keptSnapshot(database, 0)) !== undefined;
  if (ahead || (asOf.kind === 'time' && found === undefined && whole)) {
    const first = '"asOf" must be a snapshot of this lake or a time after its first one';
    throw new Failure('InvalidParameter', first);
  }
  const asked = asOf.kind === 'snapshot' ? asOf.snapshot : found;
  throw await endedFailure(database, 'asOf', asked ?? -1, horizon);
}

async function keptSnapshot(database: Database, snapshot: number): Promise<number | undefined> {
  const row = await database
    .selectFrom('ducklake_snapshot')
    .select('snapshot_id')
    .where('snapshot_id', '=', snapshot)
    .executeTakeFirst();
  return row?.snapshot_id;
}

const WHY: Readonly<Record<EndReason, string>> = {
  purged: 'was purged',
  retention: 'is older than the history that this dataset keeps',
};

/** Says why a version can't be asked, and which is the first one that can. */
async function endedFailure(
  database: Database,
  parameter: string,
  asked: number,
  horizon: Horizon | undefined,
): Promise<Failure> {
  const isBefore = horizon !== undefined && asked < horizon.snapshot;
  const why = isBefore ? WHY[horizon.reason] : 'was thinned out with age';
  const next = await database
    .selectFrom('ducklake_snapshot')
    .select(['snapshot_id', 'snapshot_time'])
    .where('snapshot_id', '>=', Math.max(asked, horizon?.snapshot ?? 0))
    .orderBy('snapshot_id')
    .limit(1)
    .executeTakeFirst();
  const time = new Date(timeOfCatalog(next?.snapshot_time ?? '')).toISOString();
  const first = `the first version that can be asked is ${next?.snapshot_id}, of ${time}`;
  return new Failure('Gone', `"${parameter}" means a version that ${why}: ${first}`);
}

/**
 * Changes are told since a version that is left, or since the table was not there yet: what came
 * and went between two versions that are left is nowhere any more.
 * @throws Failure Gone when neither is so.
 */
export async function checkSince(
  database: Database,
  tableId: number,
  since: number,
  head: number,
  horizon: Horizon | undefined,
): Promise<void> {
  if (since > head) return;
  const kept = await keptSnapshot(database, since);
  if (kept !== undefined && kept >= (horizon?.snapshot ?? 0)) return;
  const begun = await lastOf(database, tableId, 'begin_snapshot', since);
  if (horizon === undefined && begun === undefined) return;
  throw await endedFailure(database, 'since', since, horizon);
}
