// The catalog database: SQLite behind Kysely's asynchronous interface, so that PostgreSQL can take its
// place. Only SQL that both speak; one connection, so transactions never interleave.
import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { type Engine, EngineDriver } from './engine.ts';
import { openReader, openSqlite, runPieces, type Sqlite } from './sqlite.ts';
import type { LakeTables } from './tables/lake.ts';
import type { ServiceTables } from './tables/service.ts';
import { Writer } from './writer.ts';

export interface Tables extends LakeTables, ServiceTables {}

/** The catalog, or a transaction in it. */
export type Database = Kysely<Tables>;

/** Opens (and makes) the catalog at `path` in this thread, which waits for the disk. */
export const openDatabase = (path: string): Database =>
  databaseOf(async () => here(openSqlite(path)));

/**
 * Opens (and makes) the catalog at `path` on a thread of its own: this one never waits for the disk.
 * What reads before anything is written is answered here, from what is committed, in its turn.
 */
export const openServed = (path: string): Database =>
  databaseOf(async () => {
    const writer = await Writer.open(path);
    const reader = openReader(path);
    return {
      write: (pieces) => writer.run(pieces),
      read: (sql, parameters) => reader.run(sql, parameters),
      close: async () => {
        reader.close();
        await writer.close();
      },
    };
  });

/** What is committed at `path`, for one who may change nothing. */
export const openReadOnly = (path: string): Database =>
  databaseOf(async () => here(openReader(path)));

/** One connection for everything, in this thread. */
const here = (sqlite: Sqlite): Engine => ({
  write: async (pieces) => runPieces(sqlite, pieces),
  read: (sql, parameters) => sqlite.run(sql, parameters),
  close: async () => sqlite.close(),
});

const databaseOf = (open: () => Promise<Engine>): Database =>
  new Kysely<Tables>({
    dialect: {
      createDriver: () => new EngineDriver(open),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      // It says that there is one connection: who asks for it waits for its turn.
      createAdapter: () => new SqliteAdapter(),
      createIntrospector: (database) => new SqliteIntrospector(database),
    },
  });
