// Holds a schema by a session lock and an epoch that each holder increments. After a lost connection, the
// holder continues only if no other process held the schema meanwhile and PostgreSQL is still the same
// server.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSettings } from '../base/settings/databaseSettings.ts';
import { monotonicMs } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { createMarkTable } from './commitMarks.ts';
import { type Backend, hasTable, type PostgresConnection } from './postgresConnection.ts';

/** Class of the advisory lock of the holder. */
const LOCK_CLASS = 0x7a9e;
const RETRY_DELAY_MS = 200;
/** Table in the schema, beside the catalog's tables. */
export const HOLDER_TABLE = 'tapedeck_holder';

/** Another process holds the schema, or held it meanwhile: the state in memory is outdated. */
export class LockLost extends Failure {}

export interface Holding {
  readonly epoch: number;
  /** Timeline of PostgreSQL's log; it differs after a promotion or a restore. */
  readonly timeline: string;
}

export const describeSchema = ({ database, host, port, schema }: DatabaseSettings): string =>
  `schema ${schema} of database ${database} at ${host}:${port}`;

/**
 * Locks the schema. Retries, because a server that was killed a moment ago may still hold it.
 * @param former the lost connection of this process, which the server may not have noticed yet
 * @throws Failure Busy when another process still holds it after `waitMs`
 */
export async function lockSchema(
  link: PostgresConnection,
  settings: DatabaseSettings,
  former: Backend | undefined,
  waitMs: number,
): Promise<void> {
  const untilMs = monotonicMs() + waitMs;
  for (;;) {
    const query = 'select pg_try_advisory_lock($1::int, hashtext($2::text)) as held';
    const { rows } = await link.run(query, [LOCK_CLASS, settings.schema]);
    if ((rows[0] as { readonly held: boolean }).held) return;
    if (former !== undefined) await endSession(link, former);
    if (monotonicMs() > untilMs) {
      throw new LockLost('Busy', `another Tapedeck process holds ${describeSchema(settings)}`);
    }
    await sleep(RETRY_DELAY_MS);
  }
}

const endSession = (link: PostgresConnection, { pid, since }: Backend): Promise<unknown> =>
  link.run(
    `select pg_terminate_backend(pid) from pg_stat_activity
    where pid = $1::int and backend_start = $2::timestamptz`,
    [pid, since],
  );

export async function createHolderTable(
  link: PostgresConnection,
  { schema }: DatabaseSettings,
): Promise<void> {
  await link.run(`create schema if not exists "${schema}"`, []);
  await link.run(`create table if not exists ${HOLDER_TABLE} (epoch bigint not null)`, []);
}

/** Requires the lock. Creates the schema if it does not exist. */
export async function beginHolding(
  link: PostgresConnection,
  settings: DatabaseSettings,
): Promise<Holding> {
  await createHolderTable(link, settings);
  await createMarkTable(link);
  const raised = await link.run(`update ${HOLDER_TABLE} set epoch = epoch + 1 returning epoch`, []);
  const first =
    raised.rows.length > 0
      ? raised
      : await link.run(`insert into ${HOLDER_TABLE} values (1) returning epoch`, []);
  const { epoch } = first.rows[0] as { readonly epoch: number };
  return { epoch, timeline: await readTimeline(link) };
}

/** @throws Failure Busy when the schema had another holder meanwhile, or PostgreSQL is another server */
export async function verifyHolding(
  link: PostgresConnection,
  settings: DatabaseSettings,
  before: Holding,
): Promise<void> {
  const hasHolderTable = await hasTable(link, settings.schema, HOLDER_TABLE);
  const now = hasHolderTable
    ? await link.run(`select epoch from ${HOLDER_TABLE}`, [])
    : { rows: [] };
  const epoch = (now.rows[0] as { readonly epoch: number } | undefined)?.epoch;
  if (epoch !== before.epoch) {
    throw new LockLost(
      'Busy',
      `another Tapedeck process held ${describeSchema(settings)} meanwhile`,
    );
  }
  if ((await readTimeline(link)) !== before.timeline) {
    const what = 'was promoted or restored meanwhile, and may lack what it had acknowledged';
    throw new LockLost('Busy', `PostgreSQL with ${describeSchema(settings)} ${what}`);
  }
}

async function readTimeline(link: PostgresConnection): Promise<string> {
  const query = 'select substring(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline';
  return ((await link.run(query, [])).rows[0] as { readonly timeline: string }).timeline;
}

/** SQL filter over `pg_locks`: the holder's lock of the schema in the first parameter. */
export const schemaLockFilter = `locktype = 'advisory' and granted
  and classid = ${LOCK_CLASS}::oid and objid::int8 = hashtext($1::text)::int8 & 4294967295
  and database = (select oid from pg_database where datname = current_database())`;

/** SQL condition: a process holds the schema in the first parameter. */
export const schemaLockedSql = `exists (select from pg_locks where ${schemaLockFilter})`;
