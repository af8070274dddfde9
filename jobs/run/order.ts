// What a job is to do, as it is recorded with it: a load of a file that came, or of what a source
// has. And the row it begins with.
import { basename, join } from 'node:path';
import type { DatasetChanges } from '../../store/lake/datasetEdits.ts';
import type { Job } from '../../store/work/jobs.ts';
import {
  type DuplicateKeyHandling,
  duplicateRules,
  type Duplicates,
} from '../../pipeline/conform/duplicates.ts';
import type { Load } from '../../pipeline/conform/load.ts';
import type { DateOrder } from '../../pipeline/values/dateFormats.ts';
import type { Reading } from '../../pipeline/bytes/reading.ts';

interface Ordered {
  readonly accountId: string;
  /** The file is the job's own, and removed when the job has ended. */
  readonly ownFile: boolean;
  /** Of what came, or came so far. */
  readonly bytes: number;
}

export interface LoadOrder extends Omit<Load, 'ownFile'>, Ordered {
  readonly fetch?: undefined;
}

/** A job that fetches its files itself. */
export interface FetchOrder extends Omit<Load, 'ownFile' | 'relation' | 'touches'>, Ordered {
  readonly fetch: Fetch;
}

/** How a pull is loaded, as its owner says; what is left out is as usual. */
interface PullAsked extends Pick<FetchOrder, 'accountId' | 'workspace' | 'dataset' | 'fetch'> {
  readonly duplicates?: DuplicateKeyHandling | undefined;
  readonly chosen?: Duplicates | undefined;
  readonly overwrite?: boolean | undefined;
  readonly rejectsMax?: number | null | undefined;
  readonly mapping?: FetchOrder['mapping'] | null;
  readonly numbered?: boolean | undefined;
  readonly jsonPath?: string | undefined;
  readonly dateOrder?: FetchOrder['dateOrder'] | undefined;
  readonly reading?: FetchOrder['reading'] | undefined;
}

/** Nothing has come yet: its files land when it runs. */
export function fetchOrder(asked: PullAsked): FetchOrder {
  const { accountId, dataset, fetch, workspace } = asked;
  const { dateOrder, jsonPath, mapping, numbered, overwrite, reading } = asked;
  return {
    accountId,
    workspace,
    dataset,
    path: '',
    bytes: 0,
    ownFile: false,
    ...duplicateRules(asked.chosen, asked.duplicates),
    ...(overwrite === undefined ? {} : { overwrite }),
    rejectsMax: asked.rejectsMax ?? Number.MAX_SAFE_INTEGER,
    ...(mapping === undefined || mapping === null ? {} : { mapping }),
    ...(numbered === true ? { numbered } : {}),
    ...(jsonPath === undefined ? {} : { jsonPath }),
    ...(dateOrder === undefined ? {} : { dateOrder }),
    ...(reading === undefined ? {} : { reading }),
    fetch,
  };
}

interface Fetch {
  /** Empty where there are several. */
  readonly sourceId: string;
  readonly sourceType: string;
  /** Opens the source instead of its own credential. */
  readonly credentialId?: string;
  /** The run of a schedule that this is: where it stood is where this begins. */
  readonly run?: ScheduledRun;
  /** Everything of the dataset is read again. */
  readonly again?: Again;
}

/** A pull from a source, to be done once more from its beginning. */
export interface Repeat {
  readonly sourceId: string;
  readonly credentialId?: string;
  readonly duplicates: Load['duplicates'];
  readonly rejectsMax: number;
  readonly jsonPath?: string;
  readonly dateOrder?: DateOrder;
  readonly reading?: Reading;
}

/** What is read again, and what the dataset becomes with it. */
export interface Again {
  readonly pulls: readonly Repeat[];
  readonly changes: DatasetChanges;
  /** Tells the dataset that the edit was asked for from another one. */
  readonly basis: string;
}

export interface ScheduledRun {
  readonly scheduleId: string;
  readonly dueMs: number;
  /** 1 and up. */
  readonly attempt: number;
}

export type JobOrder = LoadOrder | FetchOrder;

/** A spooled file is recorded by its name alone, so that a data folder can move. */
export function jobOrderOf(job: Job, spool: string): JobOrder {
  const order = JSON.parse(job.load_json) as JobOrder;
  return order.ownFile ? { ...order, path: join(spool, order.path) } : order;
}

export const newJob = (jobId: string, sequence: number, order: JobOrder, nowMs: number): Job => ({
  job_id: jobId,
  sequence,
  account_id: order.accountId,
  workspace: order.workspace,
  dataset: order.dataset,
  type: 'ingest',
  status: 'CREATED',
  last_good_status: 'CREATED',
  progress: 0,
  attempts: 0,
  load_json: JSON.stringify(order.ownFile ? { ...order, path: basename(order.path) } : order),
  bytes: order.bytes,
  records_validated: 0,
  records_ingested: 0,
  records_invalid: 0,
  records_duplicate: 0,
  records_quarantined: 0,
  snapshot_id: null,
  error: null,
  created_ms: nowMs,
  started_ms: null,
  finished_ms: null,
  notes_json: null,
  records_replaced: 0,
  records_unchanged: 0,
  columns_left_out_json: null,
});
