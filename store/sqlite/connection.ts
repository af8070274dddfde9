// One connection of SQLite, opened as the catalog wants it. Whoever holds it waits for the disk: a server
// has it on a thread of its own (`writer.ts`), a command in its process.
import { statfsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { diskFull, isDiskFull } from '../base/failure.ts';
import type { Piece, Ran } from '../catalog/statements.ts';

export interface Sqlite {
  run(sql: string, parameters: readonly unknown[]): Ran;
  close(): void;
}

/** Prepared statements kept; past this many texts the memory is dropped and begins again. */
const STATEMENTS_MAX = 500;

const NOTHING_DONE: Ran = { rows: [], changed: { count: 0 } };

/**
 * Opens (and makes) the catalog at `path`: WAL, every commit reaches the disk before it returns.
 * @throws Failure DiskFull where there is no room for what SQLite keeps beside it.
 */
export function openSqlite(path: string): Sqlite {
  const sqlite = new DatabaseSync(path, { timeout: 5000 });
  try {
    sqlite.exec('PRAGMA journal_mode = WAL');
    sqlite.exec('PRAGMA synchronous = FULL');
    sqlite.exec('PRAGMA foreign_keys = ON');
  } catch (error) {
    sqlite.close();
    throw isDiskFull(error) || hasNoRoom(path) ? diskFull(dirname(path)) : error;
  }
  return running(sqlite);
}

/** Reads what is committed, beside who writes; it waits for nobody. */
export const openReader = (path: string): Sqlite =>
  running(new DatabaseSync(path, { readOnly: true, timeout: 5000 }));

interface SqliteMoment {
  readonly sqlite: Sqlite;
  /** Writes the moment at a path, whole or not at all; not synced. */
  copyTo(path: string): Promise<void>;
}

/** What is committed now, held by a read transaction while its writers go on. */
export function openMoment(path: string): SqliteMoment {
  const reader = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  // Without it, SQLite begins a copy again at every commit and never ends beside writers.
  reader.exec('BEGIN');
  // It begins with what it reads first.
  reader.prepare('SELECT count(*) FROM sqlite_schema').get();
  const close = (): void => {
    if (reader.isOpen) reader.close();
  };
  return { sqlite: { ...running(reader), close }, copyTo: (to) => copy(reader, to) };
}

/** Pages of one step: a step runs beside the event loop, and a step is what a stop waits for. */
const PAGES_AT_ONCE = 1_000;

async function copy(reader: DatabaseSync, path: string): Promise<void> {
  const fresh = `${path}.part`;
  await backup(reader, fresh, { rate: PAGES_AT_ONCE });
  toOneFile(fresh);
  await rename(fresh, path);
}

/** One file that says it all: a reader needs to write nothing beside it. */
export function toOneFile(path: string): void {
  const written = new DatabaseSync(path);
  try {
    written.exec('PRAGMA journal_mode = DELETE');
  } finally {
    written.close();
  }
}

/** One statement after the other. @throws what one of them throws; those before it are done */
export function runPieces(sqlite: Sqlite, pieces: readonly Piece[]): Ran {
  let last: Ran = { rows: [] };
  for (const { each, sql } of pieces) {
    for (const parameters of each) last = sqlite.run(sql, parameters);
  }
  return last;
}

function running(sqlite: DatabaseSync): Sqlite {
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    if (statements.size >= STATEMENTS_MAX) statements.clear();
    const statement = sqlite.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    run: (sql, parameters) => {
      // A full disk ends a transaction by itself: its own error is the one to be told.
      if (sql === 'rollback' && !sqlite.isTransaction) return NOTHING_DONE;
      const statement = prepared(sql);
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

/** Of the index of the write-ahead log, which SQLite makes as it opens: it says "disk I/O error". */
const LOG_INDEX_BYTES = 32_768;

function hasNoRoom(path: string): boolean {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize <= LOG_INDEX_BYTES;
}
