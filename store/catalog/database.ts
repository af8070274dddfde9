// The catalog database behind Kysely's asynchronous interface: SQLite in `../sqlite/`, PostgreSQL in
// `../postgres/`.
// Only SQL that both speak; one connection, so transactions never interleave.
import { type DatabaseIntrospector, type DialectAdapter, Kysely, type QueryCompiler } from 'kysely';
import { type Engine, EngineDriver } from './engine.ts';
import type { LakeTables } from './tables/lake.ts';
import type { ServiceTables } from './tables/service.ts';

export interface Tables extends LakeTables, ServiceTables {}

/** The catalog, or a transaction in it. */
export type Database = Kysely<Tables>;

/** Runs beside what records something, in the same transaction. @param id of what is recorded */
export type Alongside = (transaction: Database, id: string) => Promise<void>;

/** What is committed at one moment, while its writers go on. */
export interface HeldDatabase {
  readonly database: Database;
  /** Writes a copy as a file of SQLite, which is exactly that moment: whole or not at all; not synced. */
  copyTo(path: string): Promise<void>;
  /** Once or more. */
  close(): Promise<void>;
}

/** Closes a database however the work ends. */
export async function closing<T>(
  database: Database,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}

/** How an engine spells SQL, and tells which tables there are. */
export interface Spelling {
  compiler(): QueryCompiler;
  /** It says that there is one connection: who asks for it waits for its turn. */
  adapter(): DialectAdapter;
  introspector(database: Kysely<unknown>): DatabaseIntrospector;
}

export const databaseOf = (open: () => Promise<Engine>, spelling: Spelling): Database =>
  new Kysely<Tables>({
    dialect: {
      createDriver: () => new EngineDriver(open),
      createQueryCompiler: () => spelling.compiler(),
      createAdapter: () => spelling.adapter(),
      createIntrospector: (database) => spelling.introspector(database),
    },
  });
