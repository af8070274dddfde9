// A load: its request, its services, and the result of fitting its file.
import type { ColumnMapping, RecordSchema, Dataset } from '../../store/lake/datasets/datasets.ts';
import type { FindDefaults } from '../../store/lake/datasets/defaults.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import type { Reading } from '../bytes/reading.ts';
import type { DuplicateRules } from './duplicates.ts';
import type { Relation } from '../values/relation.ts';
import type { ChangedKeys } from '../../store/lake/commit.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { Pending } from '../../store/lake/pushes/pending.ts';
import type { DuckDbPool } from '../../store/duckdb/pool.ts';
import type { Clock } from '../../store/base/clock.ts';
import type { AtCrashPoint } from '../../store/base/crashPoints.ts';
import type { Batch, BatchRequest } from '../batch/batchRequest.ts';
import type { Edit } from '../../store/lake/edit.ts';
import type { Reject } from '../../store/work/jobs.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import type { Stamp } from '../../store/lake/versions/stamp.ts';
import type { DatasetDraft } from '../../store/lake/datasetEdits.ts';
import type { PropertyType, Column } from '../../store/lake/versions/columns.ts';
import type { Workbench } from '../bytes/workbench.ts';

/** What to load, and into which dataset. */
export interface Load extends Omit<DuplicateRules, 'refusesRepeats' | 'skipsIdentical'> {
  readonly path: string;
  /** The job owns the file, and no other process writes it. */
  readonly ownFile?: boolean;
  readonly workspace: string;
  readonly dataset: string;
  /** The load replaces all stored records. */
  readonly overwrite?: boolean;
  /** The number of rejected records above which nothing is ingested. */
  readonly rejectsMax: number;
  /** Parts of the unique index of a dataset that this load creates; guessed when undefined. */
  readonly mapping?: ColumnMapping;
  /** The dataset that it creates has no unique index: every record is kept. */
  readonly numbered?: boolean;
  /** Number of its first record in a dataset without unique index, reserved against concurrent pushes. */
  readonly firstRow?: number;
  /** The source file of the records; they are compared with stored records of the same source. */
  readonly sourceNumber?: number;
  /** Dataset without unique index: leaves out records that equal stored ones in every property. */
  readonly skipsIdentical?: 'of-source' | 'of-all';
  /** Fails a load that creates a dataset if its file repeats a value of the requested index. */
  readonly refusesRepeats?: boolean;
  /** Refuses a body without a record; otherwise a header alone stores nothing. */
  readonly needsRecord?: true;
  /** JSON path of the records in a document; `$[*]` or one per line when undefined. */
  readonly jsonPath?: string;
  /** What comes first in dates like 01/02/2024; detected from the values when undefined. */
  readonly dateOrder?: DateOrder;
  /** Reading options of the file. */
  readonly reading?: Reading;
  readonly source?: string;
  /** Its records are placeholders until the owner loads data (standIns.ts). */
  readonly standIn?: Pick<Dataset, 'description' | 'historyDays'>;
  /** The columns of a file written by this program: nothing is guessed. */
  readonly relation?: Relation;
  /** The changed keys, for caches of records. */
  readonly touches?: ChangedKeys;
  /** The records were accepted before: neither contract nor expectations are applied again. */
  readonly accepted?: boolean;
  /** The id of its job, for quarantined records. */
  readonly jobId?: string;
}

/** The operations of the lake that a load needs, on any node. */
export interface LoadLake extends Pick<Lake, 'files' | 'nextColumnId'> {
  readonly directory: Pick<Lake['directory'], 'dataset'>;
  table(tableId: number): Promise<Table | undefined>;
  createStamp(...of: Parameters<Lake['createStamp']>): Stamp | Promise<Stamp>;
}

export interface LoadServices extends Omit<IngestServices, 'lake' | 'others' | 'pushes'> {
  readonly lake: LoadLake;
}

export interface IngestServices {
  readonly lake: Lake;
  /** Records pushed into a dataset that a load created. */
  readonly pushes: Pick<Pending, 'pendingRows' | 'withoutPushes'>;
  /** Other nodes that execute loads. */
  readonly others?: LoadWorkers;
  readonly pool: DuckDbPool;
  readonly temporary: string;
  readonly clock: Clock;
  readonly at: AtCrashPoint;
  readonly deadlineMs: number;
  /** Defaults of a dataset that a load creates, by its place, for options that the load does not set. */
  readonly defaultsOf: FindDefaults;
  /** Aborted when the load must end without a trace. */
  readonly signal?: AbortSignal;
}

/** Callbacks while a load runs. */
export interface IngestEvents {
  readonly validating: () => Promise<void>;
  /** Called with the number of valid records read. */
  readonly validated: (records: number) => Promise<void>;
  readonly ingesting: () => Promise<void>;
  readonly progress: (percent: number) => void;
  readonly log: (message: string) => Promise<void>;
}

const ignoreEvent = async (): Promise<void> => undefined;

/** Events of a load without a log: single records are not logged (INTERFACE.md 3.7). */
export const silentEvents: IngestEvents = {
  validating: ignoreEvent,
  validated: ignoreEvent,
  ingesting: ignoreEvent,
  progress: () => undefined,
  log: ignoreEvent,
};

/** One load while its file is fitted. */
export interface LoadContext {
  readonly load: Load;
  readonly services: Pick<LoadServices, 'lake' | 'clock' | 'defaultsOf'>;
  readonly bench: Workbench;
  readonly events: Pick<IngestEvents, 'log'>;
}

type Properties = Readonly<Record<string, PropertyType>>;

/** The schema of a dataset widened by a load. */
export interface SchemaChange {
  readonly schema: RecordSchema;
  /** All columns of the table afterwards. */
  readonly columns: readonly Column[];
  readonly added: Properties;
  readonly widened: Properties;
}

/** A placeholder to replace, and the first id of the columns that replace its own. */
export interface ReplacedPlaceholder {
  readonly dataset: Dataset;
  readonly firstId: number;
}

/** A batch, and its dataset: an existing one, or the draft of a new one. */
export type Fit = {
  readonly batch: Batch;
  /** The request that produced the batch. */
  readonly request: BatchRequest;
  /** Columns of the file that the schema does not have and that are left out. */
  readonly leftOut: readonly string[];
  /** Describes the index of the dataset and its origin. */
  readonly index: string;
} & (
  | { readonly kind: 'known'; readonly dataset: Dataset; readonly change: SchemaChange | undefined }
  | {
      readonly kind: 'new';
      readonly draft: DatasetDraft;
      /** Documented properties of the dataset that the file does not have. */
      readonly lacking: readonly string[];
      /** The placeholder that the new dataset replaces completely. */
      readonly instead?: ReplacedPlaceholder;
    }
);

export type Conformed = Fit & {
  /** Types and readings inferred from the values, one per line. */
  readonly inferred: readonly string[];
};

export interface Ingested {
  readonly validated: number;
  readonly ingested: number;
  readonly invalid: number;
  /** Records quarantined because they violate an expectation. */
  readonly quarantined: number;
  /**
   * Records left out, or stored records replaced, because the index value existed; and records left out
   * because equal ones are stored.
   */
  readonly duplicates: number;
  /** Stored records that the load replaced; included in the duplicates. */
  readonly replaced: number;
  /** Records left out because equal ones are stored; included in the duplicates. */
  readonly unchanged: number;
  /** Columns of the file that are not stored. */
  readonly columnsLeftOut: readonly string[];
  readonly rejects: readonly Reject[];
  /** The index and the properties of the load, and what of it to review. */
  readonly notes: readonly string[];
}

/** A load whose files are published. */
export interface PublishedLoad {
  readonly edits: readonly Edit[];
  readonly message: string;
  readonly touches: ChangedKeys | undefined;
  readonly outcome: Ingested;
  readonly dataset: Dataset;
  /** The folder of the table's files. */
  readonly folder: string;
  readonly quarantined: Batch['quarantined'];
  /** The new schema, if the load widens it. */
  readonly schema: RecordSchema | undefined;
  /** The dataset that replaces a placeholder. */
  readonly instead: DatasetDraft | undefined;
}

export interface LoadStore {
  /** Creates the dataset of a load, after its records are validated. */
  create(draft: DatasetDraft): Promise<Dataset>;
  /** @throws the error of the commit; its published files are then removed, if possible */
  commit(load: PublishedLoad): Promise<void>;
}

/** One load, on any node. */
export interface LoadWork {
  readonly load: Load;
  readonly services: LoadServices;
  readonly events: IngestEvents;
  readonly store: LoadStore;
}

/** Other nodes that execute loads. */
export interface LoadWorkers {
  /**
   * Returns undefined if this node must execute the load: it is small, no other node is free, or the one that
   * executed it was lost.
   * @throws the same errors as local execution
   */
  work(load: LoadWork): Promise<Ingested | undefined>;
}
