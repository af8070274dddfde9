// A load: what it is told, what it runs with, and what its file conforms to.
import type { ColumnMapping, RecordSchema, Dataset } from '../../store/lake/datasets/datasets.ts';
import type { DefaultsOf } from '../../store/lake/datasets/defaults.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import type { Reading } from '../bytes/reading.ts';
import type { DuplicateRules } from './duplicates.ts';
import type { Relation } from '../values/relation.ts';
import type { ChangedKeys } from '../../store/lake/commit.ts';
import type { Lake } from '../../store/lake/lake.ts';
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

/** What to load, and into what. */
export interface Load extends Omit<DuplicateRules, 'refusesRepeats' | 'skipsIdentical'> {
  readonly path: string;
  /** The file is the job's own, and nobody writes it any more. */
  readonly ownFile?: boolean;
  readonly workspace: string;
  readonly dataset: string;
  /** The load takes the place of every record that is stored. */
  readonly overwrite?: boolean;
  /** Rejected records after which nothing is ingested. */
  readonly rejectsMax: number;
  /** Parts of the unique index when the dataset is made by this load; guessed when undefined. */
  readonly mapping?: ColumnMapping;
  /** The dataset that it makes has no unique index: every record is kept. */
  readonly numbered?: boolean;
  /** Number of its first record, of a dataset without unique index: no push has one from there on. */
  readonly firstRow?: number;
  /** The source file that it was read from; records are compared with those of the same one. */
  readonly sourceNumber?: number;
  /**
   * Of a dataset without unique index: records that are stored already, equal in every property, stay out.
   */
  readonly skipsIdentical?: 'of-source' | 'of-all';
  /** It ends where it makes a dataset and its file repeats a value of the index that was asked for. */
  readonly refusesRepeats?: boolean;
  /** Where the records of a JSON document are; `$[*]` or one a line when undefined. */
  readonly jsonPath?: string;
  /** What comes first in dates like 01/02/2024; told by the values when undefined. */
  readonly dateOrder?: DateOrder;
  /** What is said of how the file is to be read. */
  readonly reading?: Reading;
  readonly source?: string;
  /** Its records stand in for those that the dataset's owner does not have yet (standIns.ts). */
  readonly standIn?: Pick<Dataset, 'description' | 'historyDays'>;
  /** The file's columns when its maker told them: nothing is guessed. */
  readonly relation?: Relation;
  /** What it changes for who has records in memory. */
  readonly touches?: ChangedKeys;
  /** Its records were let in before: neither contract nor expectation is asked again. */
  readonly accepted?: boolean;
  /** The job that it is, for records that are kept aside. */
  readonly jobId?: string;
}

/** What a load asks of the lake, wherever it is worked on. */
export interface LoadLake extends Pick<Lake, 'files' | 'nextColumnId'> {
  readonly directory: Pick<Lake['directory'], 'dataset'>;
  table(tableId: number): Promise<Table | undefined>;
  stamp(...of: Parameters<Lake['stamp']>): Stamp | Promise<Stamp>;
}

export interface LoadServices extends Omit<IngestServices, 'lake' | 'others'> {
  readonly lake: LoadLake;
}

export interface IngestServices {
  readonly lake: Lake;
  /** Nodes that work on loads beside this one. */
  readonly others?: LoadWorkers;
  readonly pool: DuckDbPool;
  readonly temporary: string;
  readonly clock: Clock;
  readonly at: AtCrashPoint;
  readonly deadlineMs: number;
  /** What a dataset that a load makes is by its place, where the load does not say. */
  readonly defaultsOf: DefaultsOf;
  /** Aborted when the load is to end without a trace. */
  readonly signal?: AbortSignal;
}

/** Told while it runs. */
export interface IngestEvents {
  readonly validating: () => Promise<void>;
  /** With how many records of the file were read and found good. */
  readonly validated: (records: number) => Promise<void>;
  readonly ingesting: () => Promise<void>;
  readonly progress: (percent: number) => void;
  readonly log: (message: string) => Promise<void>;
}

const nothing = async (): Promise<void> => undefined;

/** A load that nobody follows: single records are not logged (INTERFACE.md 3.7). */
export const silentEvents: IngestEvents = {
  validating: nothing,
  validated: nothing,
  ingesting: nothing,
  progress: () => undefined,
  log: nothing,
};

/** One load while it is looked at. */
export interface Looking {
  readonly load: Load;
  readonly services: Pick<LoadServices, 'lake' | 'clock' | 'defaultsOf'>;
  readonly bench: Workbench;
  readonly events: Pick<IngestEvents, 'log'>;
}

type Properties = Readonly<Record<string, PropertyType>>;

/** How the schema of a dataset becomes wider with a load. */
export interface SchemaChange {
  readonly schema: RecordSchema;
  /** All columns of the table afterwards. */
  readonly columns: readonly Column[];
  readonly added: Properties;
  readonly widened: Properties;
}

/** A stand-in that gives way, and the ids of the columns that take the place of its own. */
export interface Instead {
  readonly dataset: Dataset;
  readonly firstId: number;
}

/** A batch, and the dataset that it is for: one that is there, or one to be made. */
export type Fit = {
  readonly batch: Batch;
  /** What the batch was made of. */
  readonly request: BatchRequest;
  /** Columns of the file that the schema does not have and that stay out. */
  readonly leftOut: readonly string[];
  /** Which index the dataset has, and why. */
  readonly index: string;
} & (
  | { readonly kind: 'known'; readonly dataset: Dataset; readonly change: SchemaChange | undefined }
  | {
      readonly kind: 'new';
      readonly draft: DatasetDraft;
      /** Documented properties of the dataset that the file does not have. */
      readonly lacking: readonly string[];
      /** What is there, all of which gives way to it. */
      readonly instead?: Instead;
    }
);

export type Conformed = Fit & {
  /** Which types and readings were inferred from the values, a line each. */
  readonly inferred: readonly string[];
};

export interface Ingested {
  readonly validated: number;
  readonly ingested: number;
  readonly invalid: number;
  /** Records that are kept aside for an expectation that they did not keep. */
  readonly quarantined: number;
  /**
   * Records left out, or stored records replaced, because the index value was taken; and records left out
   * because equal ones are stored.
   */
  readonly duplicates: number;
  /** Stored records that records of the load replaced; among the duplicates. */
  readonly replaced: number;
  /** Records left out because equal ones are stored; among the duplicates. */
  readonly unchanged: number;
  /** Columns of the file that are not stored. */
  readonly columnsLeftOut: readonly string[];
  readonly rejects: readonly Reject[];
  /** Which index and which properties it was read by, and what of it a person should look at. */
  readonly notes: readonly string[];
}

/** A load whose files are published. */
export interface MadeLoad {
  readonly edits: readonly Edit[];
  readonly message: string;
  readonly touches: ChangedKeys | undefined;
  readonly outcome: Ingested;
  readonly dataset: Dataset;
  /** Where its table has its files. */
  readonly folder: string;
  readonly quarantined: Batch['quarantined'];
  /** As it becomes, where it becomes wider. */
  readonly schema: RecordSchema | undefined;
  /** What takes the place of a stand-in. */
  readonly instead: DatasetDraft | undefined;
}

export interface LoadStore {
  /** The dataset that a load makes, once its records are known to be good. */
  create(draft: DatasetDraft): Promise<Dataset>;
  /** @throws what the commit throws; then none of its published files is left behind, where that may be */
  keep(made: MadeLoad): Promise<void>;
}

/** One load, wherever it is worked on. */
export interface LoadWork {
  readonly load: Load;
  readonly services: LoadServices;
  readonly events: IngestEvents;
  readonly store: LoadStore;
}

/** Other nodes that work on loads. */
export interface LoadWorkers {
  /**
   * Undefined where the load is for this node: it is small, none is free, or the one that worked on it
   * was lost.
   * @throws as if it was worked on here
   */
  work(asked: LoadWork): Promise<Ingested | undefined>;
}
