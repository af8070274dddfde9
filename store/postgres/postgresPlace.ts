// The catalog in a schema of a PostgreSQL database.
import { sql } from 'kysely';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../base/clock.ts';
import type { DatabaseSettings } from '../base/settings/databaseSettings.ts';
import type { CatalogPlace } from '../catalog/catalogPlace.ts';
import { type Database, databaseOf } from '../catalog/database.ts';
import type { Engine } from '../catalog/engine.ts';
import { GUARD, PostgresEngine } from './engine.ts';
import { hasTable, type Link, openLink, withLink } from './link.ts';
import { openPostgresMoment, postgresPages, readingOver } from './moment.ts';
import { postgresSpelling } from './spelling.ts';

/** Every row of a large table is written anew. */
const SCRUB_MS = 3_600_000;
/** For a reader of an older moment, such as a backup: all who want the table wait behind this meanwhile. */
const SCRUB_WAITS = '2s';
const LOCK_NOT_AVAILABLE = '55P03';
/** Short transactions of others end in it. */
const SEEN_MS = 2_000;

/** @param isGuarded it lets go before PostgreSQL lets another one in */
export function postgresPlace(settings: DatabaseSettings, isGuarded = false): CatalogPlace {
  const { database, host, port, schema } = settings;
  const spelling = postgresSpelling(schema);
  const open = (
    onFault?: (reason: unknown) => void,
    onTaken?: (error: Error) => void,
  ): Database => {
    const options = {
      onFault,
      ...(onTaken === undefined ? {} : { onTaken }),
      ...(isGuarded ? { guard: GUARD } : {}),
    };
    return databaseOf(() => PostgresEngine.open(settings, options), spelling);
  };
  return {
    name: `the catalog (schema ${schema} of database ${database} at ${host}:${port})`,
    advice: 'Name the right database in TAPEDECK_DATABASE, or put its own backup back',
    isThere: () => withLink(settings, (link) => hasTable(link, schema, 'folder')),
    open: () => open(),
    openServed: open,
    openReading: (answerMs) => databaseOf(() => reading(settings, answerMs), spelling),
    pages: postgresPages,
    setAside: (held, nowMs) => setAside(settings, held, nowMs),
    // The copy is one transaction: nothing is left of it.
    discard: async () => undefined,
    openMoment: () => openPostgresMoment(settings),
    scrub: (held) => scrub(settings, held),
  };
}

/** Beside whoever holds the catalog. */
async function reading(settings: DatabaseSettings, answerMs?: number): Promise<Engine> {
  const link = await openLink(settings, answerMs);
  await link.run('set default_transaction_read_only = on', []);
  return readingOver(link);
}

/**
 * Each table is written anew, which leaves deleted rows nowhere in it. What PostgreSQL has of them in its
 * log goes as that is recycled.
 */
async function scrub(settings: DatabaseSettings, held: Database): Promise<boolean> {
  const tables = await held.introspection.getTables();
  // Nobody waits for a lock of a reader on the connection that all others need.
  const work = async (link: Link): Promise<boolean> => {
    await link.run(`set lock_timeout = '${SCRUB_WAITS}'`, []);
    const { rows } = await link.run('select pg_current_xact_id()::text as id', []);
    if (!(await isSeenByNobody(link, (rows[0] as { readonly id: string }).id))) return false;
    const blank = await blankTables(link, settings.schema);
    for (const { name } of tables) {
      if (!blank.has(name)) await link.run(`vacuum full "${name}"`, []);
    }
    return true;
  };
  return withLink(settings, work, SCRUB_MS).catch((error: unknown) => {
    if ((error as { readonly code?: string }).code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  });
}

/**
 * Tables that have no page to clean since they were made or written anew: the first row gives a table a page,
 * and each of its indexes a second one, which it keeps. To write those anew took half of the time.
 */
async function blankTables(link: Link, schema: string): Promise<ReadonlySet<string>> {
  const blank = `select c.relname as name from pg_catalog.pg_class c
    where c.relkind = 'r' and c.relnamespace = to_regnamespace(quote_ident($1))
      and pg_total_relation_size(c.oid) <= current_setting('block_size')::bigint
        * ((select count(*) from pg_catalog.pg_index i where i.indrelid = c.oid)
          + case when c.reltoastrelid = 0 then 0 else 1 end)`;
  const { rows } = await link.run(blank, [schema]);
  return new Set((rows as readonly { readonly name: string }[]).map(({ name }) => name));
}

/** What was deleted before a transaction: whoever has an older view of it keeps it. */
async function isSeenByNobody(link: Link, id: string): Promise<boolean> {
  const older = `select exists (
      select from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid()
        and age(backend_xmin) > age($1::text::xid))
    or exists (select from pg_replication_slots where age(xmin) > age($1::text::xid))
    or exists (select from pg_prepared_xacts where age(transaction) > age($1::text::xid)) as held`;
  for (const untilMs = monotonicMs() + SEEN_MS; ; await sleep(SEEN_MS / 10)) {
    const { rows } = await link.run(older, [id]);
    if (!(rows[0] as { readonly held: boolean }).held) return true;
    if (monotonicMs() > untilMs) return false;
  }
}

/** The schema gets another name. */
async function setAside(
  { database, host, port, schema }: DatabaseSettings,
  held: Database,
  nowMs: number,
): Promise<string> {
  // Names have at most 63 bytes.
  const aside = `${schema.slice(0, 40)}_moved_${nowMs}`;
  await sql.raw(`alter schema "${schema}" rename to "${aside}"`).execute(held);
  return `schema ${aside} of database ${database} at ${host}:${port}`;
}
