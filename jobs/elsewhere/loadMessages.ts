// What a node that serves and one that works on its loads tell each other, in order over one connection.
import { NoDataFailure } from '../../pipeline/bytes/noData.ts';
import type { Load, LoadLake, MadeLoad } from '../../pipeline/conform/load.ts';
import { RejectedFailure } from '../../pipeline/merge/ingest.ts';
import { Failure, type FailureType, reasonOf } from '../../store/base/failure.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { DatasetDraft } from '../../store/lake/datasetEdits.ts';
import type { Stamp } from '../../store/lake/versions/stamp.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';

/** A load without its file, which comes behind it. */
export interface GivenLoad {
  readonly load: Omit<Load, 'path'>;
  /** Undefined: it is made by the load. */
  readonly dataset: Dataset | undefined;
  readonly deadlineMs: number;
  /** Its records have this time: that of the lake's clock, which no other load has. */
  readonly nowMs: number;
}

/** To the node that works: one load at a time. */
export type ToWorker =
  | ({ readonly kind: 'load' } & GivenLoad)
  | { readonly kind: 'piece'; readonly bytes: Uint8Array }
  /** All of the file has come. */
  | { readonly kind: 'whole' }
  | { readonly kind: 'answer'; readonly ask: number; readonly value: Answers[keyof Answers] }
  /** Nobody waits for it any more. */
  | { readonly kind: 'stop' };

/** What is known, and done, by the node that serves alone. */
export type Question =
  | { readonly of: 'table'; readonly tableId: number }
  | { readonly of: 'columnId'; readonly tableId: number }
  | { readonly of: 'stamp'; readonly stamp: Parameters<LoadLake['stamp']> }
  | { readonly of: 'create'; readonly draft: DatasetDraft }
  | { readonly of: 'keep'; readonly made: MadeLoad };

export interface Answers {
  readonly table: Table | undefined;
  readonly columnId: number;
  readonly stamp: Stamp;
  readonly create: Dataset;
  /** What is kept is over: it is told to stop. */
  readonly keep: undefined;
}

/** How far it is, as its log and its row tell it. */
export type Event =
  | { readonly kind: 'validating' }
  | { readonly kind: 'validated'; readonly records: number }
  | { readonly kind: 'ingesting' }
  | { readonly kind: 'progress'; readonly percent: number }
  | { readonly kind: 'log'; readonly message: string };

export type FromWorker =
  | Event
  /** First. @param node its name */
  | { readonly kind: 'hello'; readonly node: string }
  /** Every `ALIVE_MS`, from a load to its end. @param heard messages that came over this connection */
  | { readonly kind: 'alive'; readonly heard: number }
  | { readonly kind: 'ask'; readonly ask: number; readonly question: Question }
  | { readonly kind: 'failed'; readonly failure: ToldFailure }
  /** Nothing is left of the load: another one may come. */
  | { readonly kind: 'free' };

export const ALIVE_MS = 500;

/** A failure without its class. */
interface ToldFailure {
  readonly type: FailureType;
  readonly detail: string;
  readonly rejected?: Pick<RejectedFailure, 'rejects' | 'invalid'>;
  /** Of a body that is no records. */
  readonly what?: string;
}

/** What the file tells: it is the same at every node. Anything else may be of the node. */
const OF_THE_FILE: ReadonlySet<FailureType> = new Set(['InvalidBody', 'TimedOut']);

export function toldFailure(error: unknown): ToldFailure {
  const type = error instanceof Failure ? error.type : 'SystemError';
  const told = { type, detail: reasonOf(error) };
  if (error instanceof NoDataFailure) return { ...told, what: error.what };
  if (!(error instanceof RejectedFailure)) return told;
  const { invalid, rejects } = error;
  return { ...told, rejected: { invalid, rejects } };
}

/** What ends a load; undefined where it may go well at another node. */
export function failureOf({ detail, rejected, type, what }: ToldFailure): Failure | undefined {
  if (!OF_THE_FILE.has(type)) return undefined;
  if (what !== undefined) return new NoDataFailure(what);
  return rejected === undefined ? new Failure(type, detail) : new RejectedFailure(detail, rejected);
}
