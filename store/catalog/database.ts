// The catalog database: node:sqlite behind Kysely's asynchronous interface, so that PostgreSQL can
// take its place. Only SQL that both speak; one connection, so transactions never interleave.
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { Kysely, SqliteDialect, type SqliteStatement } from 'kysely';
import { diskFull, isDiskFull } from '../base/failure.ts';
import type { LakeTables } from './tables/lake.ts';
import type { ServiceTables } from './tables/service.ts';

export interface Tables extends LakeTables, ServiceTables {}

/** The catalog, or a transaction in it. */
export type Database = Kysely<Tables>;

/**
 * Opens (and makes) the catalog at `path`: WAL, every commit reaches the disk before it returns.
 * @throws Failure DiskFull where there is no room for what SQLite keeps beside it.
 */
export function openDatabase(path: string): Database {
  const sqlite = new DatabaseSync(path, { timeout: 5000 });
  try {
    sqlite.exec('PRAGMA journal_mode = WAL');
    sqlite.exec('PRAGMA synchronous = FULL');
    sqlite.exec('PRAGMA foreign_keys = ON');
  } catch (error) {
    sqlite.close();
    throw isDiskFull(error) || hasNoRoom(path) ? diskFull(dirname(path)) : error;
  }
  const statements = new Map<string, StatementSync>();
  return new Kysely<Tables>({
    dialect: new SqliteDialect({
      database: {
        close: () => sqlite.close(),
        prepare: (sql) => {
          const statement = adapt(prepared(sqlite, statements, sql));
          // A full disk ends a transaction by itself: its own error is the one to be told.
          if (sql !== 'rollback' || sqlite.isTransaction) return statement;
          return { ...statement, run: () => NOTHING_DONE };
        },
      },
    }),
  });
}

/** Of the index of the write-ahead log, which SQLite makes as it opens: it says "disk I/O error". */
const LOG_INDEX_BYTES = 32_768;

function hasNoRoom(path: string): boolean {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize <= LOG_INDEX_BYTES;
}

const NOTHING_DONE = { changes: 0, lastInsertRowid: 0 };

/** Prepared statements kept; past this many texts the memory is dropped and begins again. */
const STATEMENTS_MAX = 500;

function prepared(
  sqlite: DatabaseSync,
  statements: Map<string, StatementSync>,
  sql: string,
): StatementSync {
  const known = statements.get(sql);
  if (known !== undefined) return known;
  if (statements.size >= STATEMENTS_MAX) statements.clear();
  const statement = sqlite.prepare(sql);
  statements.set(sql, statement);
  return statement;
}

function adapt(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...parameters.map(bindable)),
    run: (parameters) => statement.run(...parameters.map(bindable)),
    iterate: (parameters) => statement.iterate(...parameters.map(bindable)),
  };
}

function bindable(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value === undefined) return null;
  return value as SQLInputValue;
}
