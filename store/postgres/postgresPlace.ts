// The catalog in a schema of a PostgreSQL database.
import type { DatabaseSettings } from '../base/databaseSettings.ts';
import type { CatalogPlace } from '../catalog/catalogPlace.ts';
import { type Database, databaseOf } from '../catalog/database.ts';
import type { Engine } from '../catalog/engine.ts';
import { GUARD, isHeld, PostgresEngine } from './engine.ts';
import { openLink } from './link.ts';
import { openPostgresMoment, postgresPages, readingOver } from './moment.ts';
import { postgresSpelling } from './spelling.ts';

/** Every row of a large table is written anew. */
const SCRUB_MS = 3_600_000;

/** @param isGuarded it lets go before PostgreSQL lets another one in */
export function postgresPlace(settings: DatabaseSettings, isGuarded = false): CatalogPlace {
  const { database, host, port, schema } = settings;
  const spelling = postgresSpelling(schema);
  const open = (onFault?: (reason: unknown) => void): Database =>
    databaseOf(
      () => PostgresEngine.open(settings, { onFault, ...(isGuarded ? { guard: GUARD } : {}) }),
      spelling,
    );
  return {
    name: `the catalog (schema ${schema} of database ${database} at ${host}:${port})`,
    advice: 'Name the right database in TAPEDECK_DATABASE, or put its own backup back',
    isThere: () => isThere(settings),
    isHeld: () => isHeld(settings),
    open: () => open(),
    openServed: open,
    openReading: () => databaseOf(() => reading(settings), spelling),
    pages: postgresPages,
    setAside: (nowMs) => setAside(settings, nowMs),
    openMoment: () => openPostgresMoment(settings),
    scrub: (held) => scrub(settings, held),
  };
}

async function isThere(settings: DatabaseSettings): Promise<boolean> {
  const link = await openLink(settings);
  try {
    const asked = "select to_regclass(quote_ident($1) || '.folder') is not null as found";
    const { rows } = await link.run(asked, [settings.schema]);
    return (rows[0] as { readonly found: boolean }).found;
  } finally {
    await link.close();
  }
}

/** Beside whoever holds the catalog. */
async function reading(settings: DatabaseSettings): Promise<Engine> {
  const link = await openLink(settings);
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
  const link = await openLink(settings, SCRUB_MS);
  try {
    for (const { name } of tables) await link.run(`vacuum full "${name}"`, []);
    return true;
  } finally {
    await link.close();
  }
}

/** The schema gets another name. */
async function setAside(settings: DatabaseSettings, nowMs: number): Promise<string> {
  const { database, host, port, schema } = settings;
  // Names have at most 63 bytes.
  const aside = `${schema.slice(0, 40)}_moved_${nowMs}`;
  const engine = await PostgresEngine.open(settings);
  try {
    await engine.write([{ sql: `alter schema "${schema}" rename to "${aside}"`, each: [[]] }]);
  } finally {
    await engine.close();
  }
  return `schema ${aside} of database ${database} at ${host}:${port}`;
}
