// The catalog database behind Kysely's asynchronous interface: SQLite in `../sqlite/`, PostgreSQL in
// `../postgres/`. It uses only SQL that both support. It has one connection: transactions never interleave.
import { type DatabaseIntrospector, type DialectAdapter, Kysely, type QueryCompiler } from 'kysely';
import { type Engine, EngineDriver } from './engine.ts';
import type { LakeTables } from './tables/lake.ts';
import type { ServiceTables } from './tables/service.ts';

export interface Tables extends LakeTables, ServiceTables {}

/** The catalog, or a transaction in it. */
export type Database = Kysely<Tables>;

/** An additional step in the transaction that stores a row. @param id of the stored row */
export type TransactionStep = (transaction: Database, id: string) => Promise<void>;

/** A snapshot of the committed data, which does not block writers. */
export interface DatabaseSnapshot {
  readonly database: Database;
  /** Writes the snapshot as an SQLite file, whole or not at all; the file is not synced. */
  copyTo(path: string): Promise<void>;
  /** May be called repeatedly. */
  close(): Promise<void>;
}

/** Runs work on a database and closes it, also if the work fails. */
export async function withDatabase<T>(
  database: Database,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  try {
    return await work(database);
  } finally {
    await database.destroy();
  }
}

/** The SQL dialect and the table introspection of an engine. */
export interface SqlDialect {
  compiler(): QueryCompiler;
  /** Declares a single connection, for which callers queue. */
  adapter(): DialectAdapter;
  introspector(database: Kysely<unknown>): DatabaseIntrospector;
}

export const createDatabase = (open: () => Promise<Engine>, spelling: SqlDialect): Database =>
  new Kysely<Tables>({
    dialect: {
      createDriver: () => new EngineDriver(open),
      createQueryCompiler: () => spelling.compiler(),
      createAdapter: () => spelling.adapter(),
      createIntrospector: (database) => spelling.introspector(database),
    },
  });
