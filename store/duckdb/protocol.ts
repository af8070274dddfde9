// What the server and a DuckDB child say to each other. Plain data only: failures too.
import type { FailureType } from '../base/failure.ts';

/** A value bound to a `$n` of the statement. */
export type Bound = string | number | boolean | null;

/**
 * Escaped: no text is a formula where a spreadsheet opens it. Strings: each decimal is a string, whether
 * a double holds its digits or not.
 */
export type TextFormat =
  'json' | 'jsonl' | 'jsonStrings' | 'jsonlStrings' | 'csv' | 'psv' | 'csvEscaped' | 'psvEscaped';

/** JSON, or lines of it; undefined for another format. */
export function jsonFraming(format: BodyFormat): 'json' | 'jsonl' | undefined {
  if (format === 'json' || format === 'jsonStrings') return 'json';
  return format === 'jsonl' || format === 'jsonlStrings' ? 'jsonl' : undefined;
}

export const hasStrings = (format: BodyFormat): boolean =>
  format === 'jsonStrings' || format === 'jsonlStrings';

export type BodyFormat = TextFormat | 'arrow' | 'parquet';

/** As a caller names it: how its texts and decimals are spelled are parameters of their own. */
export type PlainFormat = Exclude<BodyFormat, `${string}Strings` | `${string}Escaped`>;

/** What DuckDB writes itself. */
export type FileFormat = TextFormat | 'parquet';

/** How the bytes of a text are packed as they are written. */
export type Compression = 'none' | 'gzip' | 'zstd';

/**
 * What takes very long over very many columns: to look for equal parts of a plan, in the written form of the
 * whole of it, takes half a second of 1,000; to tell what each column's values may be a fifth of a read
 * (0.48 s, 0.38 without it), and helps only folds.
 */
export type Optimizer = 'common_subplan' | 'statistics_propagation';

/** What an instance may touch, and how much memory it may take. Equal scopes share an instance. */
export interface Scope {
  /** Local files that may be read, and no others. */
  readonly files: readonly string[];
  /** Where given, all that is below these may be read: without `folder`, nothing else of `files`. */
  readonly folders?: readonly string[];
  /** A folder that may be written: temporary Parquet and spill; absent for reads. */
  readonly folder?: string;
  /** Most that may be spilled into the folder; as much as the disk has when absent. */
  readonly spillBytes?: number;
  /** Folders of one workspace: an instance that touches nothing else serves its jobs in turn. */
  readonly shared?: readonly string[];
  /** The instance is kept for the next request of this scope, in spite of its folder. */
  readonly kept?: boolean;
  /** Parts of planning that are left out beside those that always are. */
  readonly skips?: readonly Optimizer[];
  readonly memoryBytes: number;
  readonly threads: number;
}

export interface Request {
  readonly id: number;
  readonly scope: Scope;
  /** Run in order on one connection; temporary tables live from one to the next. */
  readonly statements: readonly string[];
  /** The place of one that counts: where it counts none, those behind it are not run, and have no rows. */
  readonly endsAt?: number;
  /** Bound to the last statement. */
  readonly parameters: readonly Bound[];
  /**
   * Rows as plain JSON values (exact: 64-bit integers as text), or the last one's rendered body, or
   * that as pages, or its columns alone, name and type of each. Of pages the first two columns are no
   * members, but the number of the page, which ascends, and the number that orders the records.
   * `contents`: no statement runs, a row has the length and the hash of each file of the scope.
   */
  readonly answer: 'rows' | BodyFormat | 'pages' | 'columns' | 'contents';
  /** The body as a file of the scope's folder. */
  readonly file?: BodyFile;
  /** The name of one that the statements write there. */
  readonly written?: string;
  /** Progress is told while the statement runs. */
  readonly progress: boolean;
}

/** A file that a body becomes. */
export interface BodyFile {
  readonly name: string;
  readonly bytesMax: number;
  /** Up to so many rows come as bytes after all; then the rows are kept first, within the limits. */
  readonly fewRows?: number;
  /** Of csv, psv, json and jsonl; not at all when absent. */
  readonly compression?: Compression;
}

export type ToChild =
  | { readonly kind: 'request'; readonly request: Request }
  | { readonly kind: 'interrupt'; readonly id: number };

export type Row = Readonly<Record<string, unknown>>;

/** Rows do not cross processes in bulk; bytes and counts do (DESIGN.md idea 6). */
export interface Body {
  readonly objects: number;
  readonly bytes: Uint8Array;
  /** Instead of bytes: a file that belongs to whoever has this. */
  readonly file?: { readonly path: string; readonly length: number };
  /** Instead of bytes: what they are made of, in their order, shared with whoever else has it. */
  readonly pieces?: readonly Uint8Array[];
}

/** Bytes of a body, wherever they are. */
export const lengthOf = ({ bytes, file, pieces }: Body): number =>
  file?.length ?? pieces?.reduce((sum, { byteLength }) => sum + byteLength, 0) ?? bytes.length;

/** The bytes of a body that is no file, whole. */
export const wholeOf = ({ bytes, pieces }: Pick<Body, 'bytes' | 'pieces'>): Uint8Array =>
  pieces === undefined ? bytes : Buffer.concat(pieces);

/** Rendered records, one after the other, each with its separator. */
export interface Page {
  readonly bytes: Uint8Array;
  /** Where each record ends, its separator included. */
  readonly ends: Uint32Array;
  /** The number that orders each record. */
  readonly dates: Float64Array;
}

/** One of several pages. */
export interface NumberedPage extends Page {
  readonly number: number;
}

export const EMPTY_PAGE: Page = {
  bytes: new Uint8Array(),
  ends: new Uint32Array(),
  dates: new Float64Array(),
};

export type Answer =
  | { readonly kind: 'pages'; readonly pages: readonly NumberedPage[] }
  | { readonly kind: 'rows'; readonly rows: readonly (readonly Row[])[] }
  | { readonly kind: 'body'; readonly body: Body };

export type FromChild =
  /** It reads requests from now on. */
  | { readonly kind: 'started' }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | {
      readonly kind: 'failure';
      readonly id: number;
      readonly type: FailureType;
      readonly detail: string;
    }
  | { readonly kind: 'progress'; readonly id: number; readonly percent: number }
  | { readonly kind: 'memory'; readonly bytes: number };

/** Largest rendered body; a bigger one is refused with 413 and the advice to narrow the request. */
export const BODY_BYTES_MAX = 64 * 1024 ** 2;
