// Messages between the serving node and one that works on its loads, in order over one connection.
import { NoDataFailure } from '../../pipeline/bytes/noData.ts';
import type { Load, LoadLake, PublishedLoad } from '../../pipeline/conform/load.ts';
import { RejectedFailure } from '../../pipeline/merge/ingest.ts';
import { Failure, type FailureType, reasonOf } from '../../store/base/failure.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { DatasetDraft } from '../../store/lake/datasetEdits.ts';
import type { Stamp } from '../../store/lake/versions/stamp.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';

/** A load without its file, which follows in pieces. */
export interface LoadAssignment {
  readonly load: Omit<Load, 'path'>;
  /** Undefined: the load creates it. */
  readonly dataset: Dataset | undefined;
  readonly deadlineMs: number;
  /** Time of its records: by the lake's clock, and unique to this load. */
  readonly nowMs: number;
}

/** To the working node: one load at a time. */
export type ToWorker =
  | ({ readonly kind: 'load' } & LoadAssignment)
  | { readonly kind: 'piece'; readonly bytes: Uint8Array }
  /** The file is complete. */
  | { readonly kind: 'whole' }
  | { readonly kind: 'answer'; readonly ask: number; readonly value: Answers[keyof Answers] }
  /** The load was cancelled or has ended. */
  | { readonly kind: 'stop' };

/** Reads and writes that only the serving node can do. */
export type Question =
  | { readonly of: 'table'; readonly tableId: number }
  | { readonly of: 'columnId'; readonly tableId: number }
  | { readonly of: 'stamp'; readonly stamp: Parameters<LoadLake['createStamp']> }
  | { readonly of: 'create'; readonly draft: DatasetDraft }
  | { readonly of: 'keep'; readonly made: PublishedLoad };

export interface Answers {
  readonly table: Table | undefined;
  readonly columnId: number;
  readonly stamp: Stamp;
  readonly create: Dataset;
  /** Nothing is returned: the worker is stopped then. */
  readonly keep: undefined;
}

/** Progress, for the job's log and row. */
export type Event =
  | { readonly kind: 'validating' }
  | { readonly kind: 'validated'; readonly records: number }
  | { readonly kind: 'ingesting' }
  | { readonly kind: 'progress'; readonly percent: number }
  | { readonly kind: 'log'; readonly message: string };

export type FromWorker =
  | Event
  /** First message. @param node its name */
  | { readonly kind: 'hello'; readonly node: string }
  /** Every `ALIVE_MS`, from a load to its end. @param heard messages received over this connection */
  | { readonly kind: 'alive'; readonly heard: number }
  | { readonly kind: 'ask'; readonly ask: number; readonly question: Question }
  | { readonly kind: 'failed'; readonly failure: WireFailure }
  /** The load is cleaned up: the next one may be sent. */
  | { readonly kind: 'free' };

export const ALIVE_MS = 500;

/** A failure without its class. */
interface WireFailure {
  readonly type: FailureType;
  readonly detail: string;
  readonly rejected?: Pick<RejectedFailure, 'rejects' | 'invalid'>;
  /** Of a body without records. */
  readonly what?: string;
}

/** Failures of the file, which are the same at every node. Any other may be the node's own. */
const FILE_FAILURES: ReadonlySet<FailureType> = new Set(['InvalidBody', 'TimedOut']);

export function toWireFailure(error: unknown): WireFailure {
  const type = error instanceof Failure ? error.type : 'SystemError';
  const wireFailure = { type, detail: reasonOf(error) };
  if (error instanceof NoDataFailure) return { ...wireFailure, what: error.what };
  if (!(error instanceof RejectedFailure)) return wireFailure;
  const { invalid, rejects } = error;
  return { ...wireFailure, rejected: { invalid, rejects } };
}

/** Rebuilds a failure that ends the load; undefined where another node may succeed. */
export function fromWireFailure({
  detail,
  rejected,
  type,
  what,
}: WireFailure): Failure | undefined {
  if (!FILE_FAILURES.has(type)) return undefined;
  if (what !== undefined) return new NoDataFailure(what);
  return rejected === undefined ? new Failure(type, detail) : new RejectedFailure(detail, rejected);
}
