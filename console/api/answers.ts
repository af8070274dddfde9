// Types of API responses, limited to the members that screens use. The full reference is
// docs/reference/api.md.

export interface Workspace {
  readonly workspace: string;
  readonly default: boolean;
  readonly storage: { readonly live: number; readonly history: number; readonly limit: number };
}

interface Property {
  readonly type: string;
  readonly format?: string;
  readonly precision?: number;
  readonly scale?: number;
}

export interface Dataset {
  readonly workspace: string;
  readonly datasetId: string;
  readonly title: string;
  readonly description: string;
  readonly source: string;
  /** null for a view, which has the weights of its datasets. */
  readonly weight: number | null;
  readonly uniqueIndex?: boolean;
  /** The index was inferred from data, not declared. */
  readonly inferredIndex?: boolean;
  readonly columnMapping: {
    readonly key?: string;
    readonly subkey?: string;
    readonly date?: string;
  };
  readonly schema: {
    readonly properties: Readonly<Record<string, Property>>;
    readonly required?: readonly string[];
  };
  readonly updated?: number;
  readonly keys?: number | null;
  readonly records?: number | null;
  readonly expectations?: readonly unknown[];
}

export interface Version {
  readonly snapshot: number;
  readonly date: number;
  readonly jobId: string | null;
  readonly message: string;
  readonly inserted: number;
  readonly deleted: number;
  readonly compaction: boolean;
}

export interface Job {
  readonly jobId: string;
  readonly jobType: string;
  readonly workspace: string;
  readonly datasetId: string;
  readonly status: string;
  readonly progress: number;
  readonly bytes: number;
  readonly recordsValidated: number;
  readonly recordsIngested: number;
  readonly recordsInvalid: number;
  readonly recordsDuplicate: number;
  readonly recordsQuarantined: number;
  readonly received: number;
  readonly stored: number;
  readonly replaced: number;
  readonly duplicates: number;
  readonly unchanged: number;
  readonly rejected: number;
  readonly columnsLeftOut: readonly string[];
  readonly sourceType: string;
  readonly ingestionScheduleId: string | null;
  readonly error: string | null;
  readonly notes: readonly string[];
  readonly created: number;
  readonly started: number | null;
  readonly finished: number | null;
  readonly duration: number | null;
}

export interface LogLine {
  readonly timestamp: number;
  readonly message: string;
  readonly severity: string;
  readonly jobId: string | null;
}

export interface Price {
  readonly messages: number;
  readonly premiumMessages: number;
  readonly objects: number;
  readonly weight: number;
}

/** One column of SUMMARIZE. */
export interface Summary {
  readonly column_name: string;
  readonly column_type: string;
  readonly min: string | null;
  readonly max: string | null;
  readonly approx_unique: number;
  readonly avg: number | null;
  readonly count: number;
  readonly null_percentage: number;
}

const ENDED = ['INGESTED', 'FAILED', 'CANCELLED', 'CANCELED', 'COMPLETED'];

export const hasEnded = ({ finished, status }: Job): boolean =>
  finished !== null || ENDED.includes(status);

/** Quotes identifiers for SQL in back-ticks, so that any character is allowed. */
export const sqlName = (...parts: readonly string[]): string =>
  parts.map((part) => `\`${part.replaceAll('`', '``')}\``).join('.');

export const typeText = ({ format, precision, scale, type }: Property): string =>
  format === 'decimal' ? `decimal(${precision},${scale})` : (format ?? type);
