// What runs on the thread of the catalog: one message after the other, each answered.
import { parentPort, workerData } from 'node:worker_threads';
import { Failure, type FailureType } from '../base/failure.ts';
import { openSqlite, runPieces, type Sqlite } from './connection.ts';
import type { Piece, Ran } from '../catalog/statements.ts';

export type Told = { readonly ran: Ran } | { readonly failed: Failed };

interface Failed {
  /** Of a failure that is meant for somebody. */
  readonly failure?: FailureType;
  readonly message: string;
  /** What SQLite says beside its sentence. */
  readonly members: Readonly<Record<string, unknown>>;
}

const NOTHING: Ran = { rows: [] };

const tell = (told: Told): void => parentPort?.postMessage(told);

const opened = attempt(() => openSqlite(String(workerData)));
if (opened === undefined) parentPort?.close();
else serve(opened);

function serve(sqlite: Sqlite): void {
  tell({ ran: NOTHING });
  parentPort?.on('message', (asked: readonly Piece[] | 'close') => {
    if (asked === 'close') {
      sqlite.close();
      tell({ ran: NOTHING });
      return;
    }
    const ran = attempt(() => runPieces(sqlite, asked));
    if (ran !== undefined) tell({ ran });
  });
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    tell({ failed: failedOf(error) });
    return undefined;
  }
}

function failedOf(error: unknown): Failed {
  if (error instanceof Failure) {
    return { failure: error.type, message: error.detail ?? '', members: {} };
  }
  const { code, errcode, errstr } = error as Readonly<Record<string, unknown>>;
  const message = error instanceof Error ? error.message : String(error);
  return { message, members: { code, errcode, errstr } };
}
