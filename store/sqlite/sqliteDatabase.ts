// Opens the catalog in a SQLite file: in this thread, on a separate thread, or read-only.
import { type DataTypeNode, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import {
  type Database,
  createDatabase,
  type DatabaseSnapshot,
  type SqlDialect,
} from '../catalog/database.ts';
import type { Engine } from '../catalog/engine.ts';
import {
  openSnapshot,
  openReader,
  openSqlite,
  runPieces,
  type SqliteConnection,
} from './connection.ts';
import { type ThreadPool, Writer } from './writer.ts';

/** Opens or creates the catalog at `path` in this thread, which waits for the disk. */
export const openDatabase = (path: string): Database =>
  sqliteDatabase(async () => inThread(openSqlite(path)));

/**
 * Opens or creates the catalog at `path` on a separate thread: this thread never waits for the disk. Reads
 * outside of a transaction run in this thread on the committed state, in their order.
 */
export const openServed = (path: string, threads?: ThreadPool): Database =>
  sqliteDatabase(async () => {
    const writer = await Writer.open(path, threads);
    const reader = await openOrUndo(
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

/** Opens the committed state at `path` read-only. */
export const openReadOnly = (path: string): Database =>
  sqliteDatabase(async () => inThread(openReader(path)));

export function openSnapshotDatabase(path: string): DatabaseSnapshot {
  const { copyTo, sqlite } = openSnapshot(path);
  return {
    database: sqliteDatabase(async () => inThread(sqlite)),
    copyTo,
    close: async () => sqlite.close(),
  };
}

/** Calls `undo` if opening fails. */
async function openOrUndo<T>(open: () => T, undo: () => Promise<void>): Promise<T> {
  try {
    return open();
  } catch (error) {
    await undo();
    throw error;
  }
}

/** One connection for everything, in this thread. */
const inThread = (sqlite: SqliteConnection): Engine => ({
  write: async (pieces) => runPieces(sqlite, pieces),
  read: (sql, parameters) => sqlite.run(sql, parameters),
  close: async () => sqlite.close(),
});

class SqliteCompiler extends SqliteQueryCompiler {
  /** SQLite has neither id nor time types: the format's own SQLite catalogs use text. */
  protected override visitDataType(node: DataTypeNode): void {
    this.append(['uuid', 'timestamptz'].includes(node.dataType) ? 'text' : node.dataType);
  }
}

const SQLITE: SqlDialect = {
  compiler: () => new SqliteCompiler(),
  adapter: () => new SqliteAdapter(),
  introspector: (database) => new SqliteIntrospector(database),
};

const sqliteDatabase = (open: () => Promise<Engine>): Database => createDatabase(open, SQLITE);
