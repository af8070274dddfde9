// Entry point of the catalog's thread: handles one message after the other and answers each.
import { parentPort } from 'node:worker_threads';
import { Failure, type FailureType } from '../base/failure.ts';
import { type BatchStatement, NOT_OPEN, type StatementResult } from '../catalog/statements.ts';
import { openSqlite, runPieces, type SqliteConnection } from './connection.ts';

/** Statements; or the path of the catalog to open; or `close`. */
export type WriterRequest = readonly BatchStatement[] | { readonly open: string } | 'close';

export type WriterReply = { readonly ran: StatementResult } | { readonly failed: ErrorDescription };

interface ErrorDescription {
  /** Type of a failure that is meant for a caller. */
  readonly failure?: FailureType;
  readonly message: string;
  /** Members of SQLite's error besides its message. */
  readonly members: Readonly<Record<string, unknown>>;
}

const NOTHING: StatementResult = { rows: [] };

let sqlite: SqliteConnection | undefined;

parentPort?.on('message', (request: WriterRequest) => parentPort?.postMessage(handle(request)));

function handle(request: WriterRequest): WriterReply {
  try {
    return { ran: execute(request) };
  } catch (error) {
    return { failed: describeError(error) };
  }
}

function execute(request: WriterRequest): StatementResult {
  if (request === 'close') {
    sqlite?.close();
    sqlite = undefined;
    return NOTHING;
  }
  if ('open' in request) {
    sqlite = openSqlite(request.open);
    return NOTHING;
  }
  if (sqlite === undefined) throw new Error(NOT_OPEN);
  return runPieces(sqlite, request);
}

function describeError(error: unknown): ErrorDescription {
  if (error instanceof Failure) {
    return { failure: error.type, message: error.detail ?? '', members: {} };
  }
  const { code, errcode, errstr } = error as Readonly<Record<string, unknown>>;
  const message = error instanceof Error ? error.message : String(error);
  return { message, members: { code, errcode, errstr } };
}
