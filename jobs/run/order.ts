// Order of a job, as stored with it: a load of a received file, or of a source's files. Also its initial row.
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
  /** The file belongs to the job, and is removed at its end. */
  readonly ownFile: boolean;
  /** Received, or received so far. */
  readonly bytes: number;
}

export interface LoadOrder extends Omit<Load, 'ownFile'>, Ordered {
  readonly fetch?: undefined;
}

/** A job that fetches its files itself. */
export interface FetchOrder extends Omit<Load, 'ownFile' | 'relation' | 'touches'>, Ordered {
  readonly fetch: Fetch;
}

/** Options of a pull, set by its owner; the others have their defaults. */
interface PullOptions extends Pick<FetchOrder, 'accountId' | 'workspace' | 'dataset' | 'fetch'> {
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

/** Creates the order of a pull: its files are downloaded when it runs. */
export function fetchOrder(options: PullOptions): FetchOrder {
  const { accountId, dataset, fetch, workspace } = options;
  const { dateOrder, jsonPath, mapping, numbered, overwrite, reading } = options;
  return {
    accountId,
    workspace,
    dataset,
    path: '',
    bytes: 0,
    ownFile: false,
    ...duplicateRules(options.chosen, options.duplicates),
    ...(overwrite === undefined ? {} : { overwrite }),
    rejectsMax: options.rejectsMax ?? Number.MAX_SAFE_INTEGER,
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
  /** Replaces the source's own credential. */
  readonly credentialId?: string;
  /** The run of its schedule: it resumes at the schedule's position. */
  readonly run?: ScheduledRun;
  /** Reads everything of the dataset again. */
  readonly again?: Reingest;
}

/** A pull from a source that is repeated from its beginning. */
export interface RepeatedPull {
  readonly sourceId: string;
  readonly credentialId?: string;
  readonly duplicates: Load['duplicates'];
  readonly rejectsMax: number;
  readonly jsonPath?: string;
  readonly dateOrder?: DateOrder;
  readonly reading?: Reading;
}

/** The pulls to repeat, and the changes of the dataset that come with them. */
export interface Reingest {
  readonly pulls: readonly RepeatedPull[];
  readonly changes: DatasetChanges;
  /** Digest of the dataset for which the edit was requested. */
  readonly basis: string;
}

export interface ScheduledRun {
  readonly scheduleId: string;
  readonly dueMs: number;
  /** 1 and up. */
  readonly attempt: number;
}

export type JobOrder = LoadOrder | FetchOrder;

/** Parses a job's order. A spooled file is recorded by its name alone, so that a data folder can move. */
export function parseJobOrder(job: Job, spool: string): JobOrder {
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
