// Who holds a schema: by a lock of its session, and by a number that each holder raises. One that lost its
// connection goes on only if nobody held the schema meanwhile, and PostgreSQL is the one that it was.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSettings } from '../base/settings/databaseSettings.ts';
import { monotonicMs } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { makeMarkTable } from './commitMarks.ts';
import { type Backend, hasTable, type Link } from './link.ts';

/** Of the lock that one server holds. */
const LOCK_CLASS = 0x7a9e;
const AGAIN_MS = 200;
/** In the schema, beside the catalog's tables. */
export const HOLDER_TABLE = 'tapedeck_holder';

/** Another process holds what this one had, or had it meanwhile: what this one knows is old. */
export class Taken extends Failure {}

export interface Holding {
  readonly epoch: number;
  /** Of PostgreSQL's log: another one after a promotion, or a restore. */
  readonly timeline: string;
}

const placeOf = ({ database, host, port, schema }: DatabaseSettings): string =>
  `schema ${schema} of database ${database} at ${host}:${port}`;

/**
 * A server that was killed a moment ago may hold it still.
 * @param former this one's own former connection, of which the server may not know yet that it is gone
 * @throws Taken when another one holds it for so long
 */
export async function lockSchema(
  link: Link,
  settings: DatabaseSettings,
  former: Backend | undefined,
  waitMs: number,
): Promise<void> {
  const untilMs = monotonicMs() + waitMs;
  for (;;) {
    const locked = 'select pg_try_advisory_lock($1::int, hashtext($2::text)) as held';
    const { rows } = await link.run(locked, [LOCK_CLASS, settings.schema]);
    if ((rows[0] as { readonly held: boolean }).held) return;
    if (former !== undefined) await endSession(link, former);
    if (monotonicMs() > untilMs) {
      throw new Taken('Busy', `another Tapedeck process holds ${placeOf(settings)}`);
    }
    await sleep(AGAIN_MS);
  }
}

const endSession = (link: Link, { pid, since }: Backend): Promise<unknown> =>
  link.run(
    `select pg_terminate_backend(pid) from pg_stat_activity
    where pid = $1::int and backend_start = $2::timestamptz`,
    [pid, since],
  );

export async function makeHolderTable(link: Link, { schema }: DatabaseSettings): Promise<void> {
  await link.run(`create schema if not exists "${schema}"`, []);
  await link.run(`create table if not exists ${HOLDER_TABLE} (epoch bigint not null)`, []);
}

/** The lock is this one's. Makes the schema where it is not there. */
export async function beginHolding(link: Link, settings: DatabaseSettings): Promise<Holding> {
  await makeHolderTable(link, settings);
  await makeMarkTable(link);
  const raised = await link.run(`update ${HOLDER_TABLE} set epoch = epoch + 1 returning epoch`, []);
  const first =
    raised.rows.length > 0
      ? raised
      : await link.run(`insert into ${HOLDER_TABLE} values (1) returning epoch`, []);
  const { epoch } = first.rows[0] as { readonly epoch: number };
  return { epoch, timeline: await timelineOf(link) };
}

/** @throws Taken when the schema had another holder meanwhile, or PostgreSQL is another one */
export async function sameHolding(
  link: Link,
  settings: DatabaseSettings,
  before: Holding,
): Promise<void> {
  const isThere = await hasTable(link, settings.schema, HOLDER_TABLE);
  const now = isThere ? await link.run(`select epoch from ${HOLDER_TABLE}`, []) : { rows: [] };
  const epoch = (now.rows[0] as { readonly epoch: number } | undefined)?.epoch;
  if (epoch !== before.epoch) {
    throw new Taken('Busy', `another Tapedeck process held ${placeOf(settings)} meanwhile`);
  }
  if ((await timelineOf(link)) !== before.timeline) {
    const what = 'was promoted or restored meanwhile, and may lack what it had acknowledged';
    throw new Taken('Busy', `PostgreSQL with ${placeOf(settings)} ${what}`);
  }
}

async function timelineOf(link: Link): Promise<string> {
  const asked = 'select substring(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline';
  return ((await link.run(asked, [])).rows[0] as { readonly timeline: string }).timeline;
}

/** SQL over `pg_locks`: the lock of whoever holds the schema that is the first parameter. */
export const isSchemaLock = `locktype = 'advisory' and granted
  and classid = ${LOCK_CLASS}::oid and objid::int8 = hashtext($1::text)::int8 & 4294967295
  and database = (select oid from pg_database where datname = current_database())`;

/** SQL that says whether a process holds the schema that is its first parameter. */
export const schemaLocked = `exists (select from pg_locks where ${isSchemaLock})`;
