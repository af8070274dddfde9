// One connection of SQLite, opened as the catalog wants it. Whoever holds it waits for the disk: a server
// has it on a thread of its own (`writer.ts`), a command in its process.
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { diskFull, isDiskFull } from '../base/failure.ts';

/** What a statement answered. */
export interface Ran {
  readonly rows: readonly unknown[];
  /** Rows that it changed, and the last that it made; undefined where it answers rows. */
  readonly changed?: { readonly count: number | bigint; readonly lastId: number | bigint };
}

/** A statement, and the parameters of each of its runs. */
export interface Piece {
  readonly sql: string;
  readonly each: readonly (readonly unknown[])[];
}

/** Stands for a statement whose parameters are pieces: what goes to the catalog in one message. */
export const TOGETHER = '-- together';

export interface Sqlite {
  run(sql: string, parameters: readonly unknown[]): Ran;
  close(): void;
}

/** Prepared statements kept; past this many texts the memory is dropped and begins again. */
const STATEMENTS_MAX = 500;

const NOTHING_DONE: Ran = { rows: [], changed: { count: 0, lastId: 0 } };

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
      const { changes, lastInsertRowid } = statement.run(...values);
      return { rows: [], changed: { count: changes, lastId: lastInsertRowid } };
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
