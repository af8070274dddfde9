// The catalog in a file of SQLite: in this thread, on a thread of its own, or for one who may change nothing.
import { type DataTypeNode, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import {
  type Database,
  databaseOf,
  type HeldDatabase,
  type Spelling,
} from '../catalog/database.ts';
import type { Engine } from '../catalog/engine.ts';
import { openMoment, openReader, openSqlite, runPieces, type Sqlite } from './connection.ts';
import { type Threads, Writer } from './writer.ts';

/** Opens (and makes) the catalog at `path` in this thread, which waits for the disk. */
export const openDatabase = (path: string): Database =>
  sqliteDatabase(async () => here(openSqlite(path)));

/**
 * Opens (and makes) the catalog at `path` on a thread of its own: this one never waits for the disk.
 * What reads before anything is written is answered here, from what is committed, in its turn.
 */
export const openServed = (path: string, threads?: Threads): Database =>
  sqliteDatabase(async () => {
    const writer = await Writer.open(path, threads);
    const reader = await opened(
      () => openReader(path),
      () => writer.close(),
    );
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
  sqliteDatabase(async () => here(openReader(path)));

export function openHeld(path: string): HeldDatabase {
  const { copyTo, sqlite } = openMoment(path);
  return {
    database: sqliteDatabase(async () => here(sqlite)),
    copyTo,
    close: async () => sqlite.close(),
  };
}

/** What was opened before is closed where this can't be. */
async function opened<T>(open: () => T, undo: () => Promise<void>): Promise<T> {
  try {
    return open();
  } catch (error) {
    await undo();
    throw error;
  }
}

/** One connection for everything, in this thread. */
const here = (sqlite: Sqlite): Engine => ({
  write: async (pieces) => runPieces(sqlite, pieces),
  read: (sql, parameters) => sqlite.run(sql, parameters),
  close: async () => sqlite.close(),
});

class SqliteSpelling extends SqliteQueryCompiler {
  /** SQLite has neither ids nor times of their own: the format's own SQLite catalogs have text. */
  protected override visitDataType(node: DataTypeNode): void {
    this.append(['uuid', 'timestamptz'].includes(node.dataType) ? 'text' : node.dataType);
  }
}

const SQLITE: Spelling = {
  compiler: () => new SqliteSpelling(),
  adapter: () => new SqliteAdapter(),
  introspector: (database) => new SqliteIntrospector(database),
};

const sqliteDatabase = (open: () => Promise<Engine>): Database => databaseOf(open, SQLITE);
