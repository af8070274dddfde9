// Opens SQLite connections with the catalog's settings. Calls wait for the disk: a server uses them on a
// separate thread (`writer.ts`), a command in its process.
import { statfsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { diskFull, isDiskFull } from '../base/failure.ts';
import type { BatchStatement, StatementResult } from '../catalog/statements.ts';

export interface SqliteConnection {
  run(sql: string, parameters: readonly unknown[]): StatementResult;
  close(): void;
}

/** Limit of cached prepared statements; above it the cache is cleared. */
const STATEMENTS_MAX = 500;

const NOTHING_DONE: StatementResult = { rows: [], changed: { count: 0 } };

/**
 * Opens or creates the catalog at `path`: WAL, every commit reaches the disk before it returns.
 * @throws Failure DiskFull when there is no room for SQLite's auxiliary files.
 */
export function openSqlite(path: string): SqliteConnection {
  const sqlite = new DatabaseSync(path, { timeout: 5000 });
  try {
    sqlite.exec('PRAGMA journal_mode = WAL');
    sqlite.exec('PRAGMA synchronous = FULL');
    sqlite.exec('PRAGMA foreign_keys = ON');
  } catch (error) {
    sqlite.close();
    throw isDiskFull(error) || hasNoRoom(path) ? diskFull(dirname(path)) : error;
  }
  return toConnection(sqlite);
}

/** Opens a reader of the committed state, which never waits for writers. */
export const openReader = (path: string): SqliteConnection =>
  toConnection(new DatabaseSync(path, { readOnly: true, timeout: 5000 }));

interface SqliteSnapshot {
  readonly sqlite: SqliteConnection;
  /** Copies the snapshot to a path, completely or not at all; not synced. */
  copyTo(path: string): Promise<void>;
}

/** Opens a snapshot of the committed state in a read transaction, while writers go on. */
export function openSnapshot(path: string): SqliteSnapshot {
  const reader = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  // Without a transaction, SQLite restarts a copy at every commit and never finishes beside writers.
  reader.exec('BEGIN');
  // The snapshot is taken at the first read.
  reader.prepare('SELECT count(*) FROM sqlite_schema').get();
  const close = (): void => {
    if (reader.isOpen) reader.close();
  };
  return { sqlite: { ...toConnection(reader), close }, copyTo: (to) => copy(reader, to) };
}

/** Pages of one copy step: a step runs beside the event loop, and a stop waits for the current one. */
const COPY_STEP_PAGES = 1_000;

async function copy(reader: DatabaseSync, path: string): Promise<void> {
  const fresh = `${path}.part`;
  await backup(reader, fresh, { rate: COPY_STEP_PAGES });
  toOneFile(fresh);
  await rename(fresh, path);
}

/** Converts the database to one self-contained file: a reader writes nothing beside it. */
export function toOneFile(path: string): void {
  const written = new DatabaseSync(path);
  try {
    written.exec('PRAGMA journal_mode = DELETE');
  } finally {
    written.close();
  }
}

/** Runs statements one after the other. @throws the first error; the statements before it stay done */
export function runPieces(
  sqlite: SqliteConnection,
  pieces: readonly BatchStatement[],
): StatementResult {
  let last: StatementResult = { rows: [] };
  for (const { each, sql } of pieces) {
    for (const parameters of each) last = sqlite.run(sql, parameters);
  }
  return last;
}

function toConnection(sqlite: DatabaseSync): SqliteConnection {
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const cached = statements.get(sql);
    if (cached !== undefined) return cached;
    if (statements.size >= STATEMENTS_MAX) statements.clear();
    const statement = sqlite.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    run: (sql, parameters) => {
      // A full disk ends the transaction automatically; its own error must reach the caller.
      if (sql === 'rollback' && !sqlite.isTransaction) return NOTHING_DONE;
      const statement = prepare(sql);
      const values = parameters.map(bindable);
      if (statement.columns().length > 0) return { rows: statement.all(...values) };
      return { rows: [], changed: { count: statement.run(...values).changes } };
    },
    close: () => sqlite.close(),
  };
}

function bindable(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value === undefined) return null;
  return value as SQLInputValue;
}

/**
 * Size of the index of the write-ahead log, which SQLite creates on open; without room it reports "disk I/O
 * error".
 */
const LOG_INDEX_BYTES = 32_768;

function hasNoRoom(path: string): boolean {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize <= LOG_INDEX_BYTES;
}
