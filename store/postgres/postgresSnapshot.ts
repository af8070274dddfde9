// Reads a consistent snapshot of the catalog in PostgreSQL, and copies it to a SQLite file for backups.
import { rename, rm } from 'node:fs/promises';
import { sql } from 'kysely';
import type { DatabaseSettings } from '../base/settings/databaseSettings.ts';
import {
  type CatalogRow,
  copyCatalog,
  PAGE_ROWS,
  type PageReader,
} from '../catalog/copyCatalog.ts';
import { sqlitePages } from '../sqlite/sqlitePlace.ts';
import { type Database, createDatabase, type DatabaseSnapshot } from '../catalog/database.ts';
import { openServed } from '../sqlite/sqliteDatabase.ts';
import type { Engine } from '../catalog/engine.ts';
import { toOneFile } from '../sqlite/connection.ts';
import type { StatementResult } from '../catalog/statements.ts';
import { type PostgresConnection, openConnection } from './postgresConnection.ts';
import { postgresDialect } from './postgresDialect.ts';

/** Pages through a table with a cursor; requires a transaction. */
export const postgresPages: PageReader = async function* (database, table) {
  await sql`declare rows no scroll cursor for select * from ${sql.table(table)}`.execute(database);
  for (;;) {
    const fetched = sql<CatalogRow>`fetch ${sql.lit(PAGE_ROWS)} from rows`;
    const { rows } = await fetched.execute(database);
    if (rows.length === 0) break;
    yield rows;
  }
  await sql`close rows`.execute(database);
};

/** Opens a read-only snapshot of the committed state. */
export async function openPostgresSnapshot(settings: DatabaseSettings): Promise<DatabaseSnapshot> {
  const link = await openConnection(settings);
  try {
    await link.run('begin isolation level repeatable read read only', []);
    // The snapshot is taken at the first read.
    await link.run('select 1', []);
  } catch (error) {
    await link.close();
    throw error;
  }
  const database = createDatabase(
    async () => connectionEngine(link),
    postgresDialect(settings.schema),
  );
  return { database, copyTo: (path) => copyTo(database, path), close: () => link.close() };
}

/** Runs statements one after the other. */
export const connectionEngine = (link: PostgresConnection): Engine => ({
  read: (statement, parameters) => link.run(statement, parameters),
  write: async (pieces) => {
    let last: StatementResult = { rows: [] };
    for (const { each, sql: statement } of pieces) {
      for (const parameters of each) last = await link.run(statement, parameters);
    }
    return last;
  },
  close: () => link.close(),
});

async function copyTo(from: Database, path: string): Promise<void> {
  const fresh = `${path}.part`;
  for (const part of ['', '-wal', '-shm']) await rm(`${fresh}${part}`, { force: true });
  // Uses a separate thread, so that the server keeps answering.
  const to = openServed(fresh);
  try {
    await copyCatalog({ from, pagesFrom: postgresPages, to, pagesTo: sqlitePages });
  } finally {
    await to.destroy();
  }
  toOneFile(fresh);
  await rename(fresh, path);
}
