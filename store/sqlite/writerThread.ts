// What runs on the thread of the catalog: one message after the other, each answered.
import { parentPort } from 'node:worker_threads';
import { Failure, type FailureType } from '../base/failure.ts';
import type { Piece, Ran } from '../catalog/statements.ts';
import { openSqlite, runPieces, type Sqlite } from './connection.ts';

/** Statements; or the path of the catalog that they are for, from now on; or that it is closed. */
export type Asked = readonly Piece[] | { readonly open: string } | 'close';

export type Told = { readonly ran: Ran } | { readonly failed: Failed };

interface Failed {
  /** Of a failure that is meant for somebody. */
  readonly failure?: FailureType;
  readonly message: string;
  /** What SQLite says beside its sentence. */
  readonly members: Readonly<Record<string, unknown>>;
}

const NOTHING: Ran = { rows: [] };

let sqlite: Sqlite | undefined;

parentPort?.on('message', (asked: Asked) => parentPort?.postMessage(answered(asked)));

function answered(asked: Asked): Told {
  try {
    return { ran: done(asked) };
  } catch (error) {
    return { failed: failedOf(error) };
  }
}

function done(asked: Asked): Ran {
  if (asked === 'close') {
    sqlite?.close();
    sqlite = undefined;
    return NOTHING;
  }
  if ('open' in asked) {
    sqlite = openSqlite(asked.open);
    return NOTHING;
  }
  if (sqlite === undefined) throw new Error('the catalog is not open');
  return runPieces(sqlite, asked);
}

function failedOf(error: unknown): Failed {
  if (error instanceof Failure) {
    return { failure: error.type, message: error.detail ?? '', members: {} };
  }
  const { code, errcode, errstr } = error as Readonly<Record<string, unknown>>;
  const message = error instanceof Error ? error.message : String(error);
  return { message, members: { code, errcode, errstr } };
}
