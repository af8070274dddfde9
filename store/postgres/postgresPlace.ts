// Places the catalog in a schema of a PostgreSQL database.
import { sql } from 'kysely';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../base/clock.ts';
import type { DatabaseSettings } from '../base/settings/databaseSettings.ts';
import type { CatalogPlace } from '../catalog/catalogPlace.ts';
import { type Database, createDatabase } from '../catalog/database.ts';
import type { Engine } from '../catalog/engine.ts';
import { GUARD, PostgresEngine } from './engine.ts';
import {
  hasTable,
  type PostgresConnection,
  openConnection,
  withConnection,
} from './postgresConnection.ts';
import { openPostgresSnapshot, postgresPages, connectionEngine } from './postgresSnapshot.ts';
import { postgresDialect } from './postgresDialect.ts';
import { describeSchema } from './schemaLock.ts';

/** Timeout of a scrub, which rewrites every row of large tables. */
const SCRUB_MS = 3_600_000;
/**
 * Lock wait of a scrub behind a reader of an older snapshot, such as a backup: all users of the table wait
 * meanwhile.
 */
const SCRUB_LOCK_TIMEOUT = '2s';
const LOCK_NOT_AVAILABLE = '55P03';
/** Wait for short transactions of other sessions to end. */
const OLDER_READERS_WAIT_MS = 2_000;

/** @param isGuarded the server exits before PostgreSQL releases its lock to another one */
export function postgresPlace(settings: DatabaseSettings, isGuarded = false): CatalogPlace {
  const { database, host, port, schema } = settings;
  const spelling = postgresDialect(schema);
  const open = (
    onFault?: (reason: unknown) => void,
    onTaken?: (error: Error) => void,
  ): Database => {
    const options = {
      onFault,
      ...(onTaken === undefined ? {} : { onTaken }),
      ...(isGuarded ? { guard: GUARD } : {}),
    };
    return createDatabase(() => PostgresEngine.open(settings, options), spelling);
  };
  return {
    name: `the catalog (schema ${schema} of database ${database} at ${host}:${port})`,
    advice: 'Name the right database in TAPEDECK_DATABASE, or put its own backup back',
    exists: () => withConnection(settings, (link) => hasTable(link, schema, 'folder')),
    open: () => open(),
    openForServer: open,
    openReadOnly: (answerMs) => createDatabase(() => openReader(settings, answerMs), spelling),
    readPages: postgresPages,
    setAside: (catalog, nowMs) => setAside(settings, catalog, nowMs),
    // The copy is one transaction: a failed one leaves nothing.
    discard: async () => undefined,
    openSnapshot: () => openPostgresSnapshot(settings),
    scrub: (catalog) => scrub(settings, catalog),
  };
}

/** Opens a reader beside the holder of the catalog. */
async function openReader(settings: DatabaseSettings, answerMs?: number): Promise<Engine> {
  const link = await openConnection(settings, answerMs);
  await link.run('set default_transaction_read_only = on', []);
  return connectionEngine(link);
}

/**
 * Rewrites each table, which removes deleted rows physically. PostgreSQL's log loses them as it is recycled.
 */
async function scrub(settings: DatabaseSettings, catalog: Database): Promise<boolean> {
  const tables = await catalog.introspection.getTables();
  // Uses a separate connection, so that other users of the main one never wait for a reader's lock.
  const work = async (link: PostgresConnection): Promise<boolean> => {
    await link.run(`set lock_timeout = '${SCRUB_LOCK_TIMEOUT}'`, []);
    const { rows } = await link.run('select pg_current_xact_id()::text as id', []);
    if (!(await hasNoOlderReaders(link, (rows[0] as { readonly id: string }).id))) return false;
    const blank = await blankTables(link, settings.schema);
    for (const { name } of tables) {
      if (!blank.has(name)) await link.run(`vacuum full "${name}"`, []);
    }
    return true;
  };
  return withConnection(settings, work, SCRUB_MS).catch((error: unknown) => {
    if ((error as { readonly code?: string }).code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  });
}

/**
 * Finds tables without a page to clean since they were created or rewritten: the first row gives a table a
 * page, and each of its indexes a second one, which it keeps. Rewriting those took half of the time.
 */
async function blankTables(link: PostgresConnection, schema: string): Promise<ReadonlySet<string>> {
  const blank = `select c.relname as name from pg_catalog.pg_class c
    where c.relkind = 'r' and c.relnamespace = to_regnamespace(quote_ident($1))
      and pg_total_relation_size(c.oid) <= current_setting('block_size')::bigint
        * ((select count(*) from pg_catalog.pg_index i where i.indrelid = c.oid)
          + case when c.reltoastrelid = 0 then 0 else 1 end)`;
  const { rows } = await link.run(blank, [schema]);
  return new Set((rows as readonly { readonly name: string }[]).map(({ name }) => name));
}

/** Whether no session, slot or prepared transaction still sees rows deleted before a transaction. */
async function hasNoOlderReaders(link: PostgresConnection, id: string): Promise<boolean> {
  const older = `select exists (
      select from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid()
        and age(backend_xmin) > age($1::text::xid))
    or exists (select from pg_replication_slots where age(xmin) > age($1::text::xid))
    or exists (select from pg_prepared_xacts where age(transaction) > age($1::text::xid)) as held`;
  for (
    const untilMs = monotonicMs() + OLDER_READERS_WAIT_MS;
    ;
    await sleep(OLDER_READERS_WAIT_MS / 10)
  ) {
    const { rows } = await link.run(older, [id]);
    if (!(rows[0] as { readonly held: boolean }).held) return true;
    if (monotonicMs() > untilMs) return false;
  }
}

/** Renames the schema. */
async function setAside(
  settings: DatabaseSettings,
  catalog: Database,
  nowMs: number,
): Promise<string> {
  const { schema } = settings;
  // Names have at most 63 bytes.
  const aside = `${schema.slice(0, 40)}_moved_${nowMs}`;
  await sql.raw(`alter schema "${schema}" rename to "${aside}"`).execute(catalog);
  return describeSchema({ ...settings, schema: aside });
}
