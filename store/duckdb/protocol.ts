// The messages between the server and a DuckDB child. They are plain data, including failures.
import { Failure, type FailureType } from '../base/failure.ts';

/** A value bound to a `$n` of the statement. */
export type Bound = string | number | boolean | null;

/**
 * Escaped: no text becomes a formula in a spreadsheet. Strings: every decimal is a string, whether or not
 * a double can represent its digits.
 */
export type TextFormat =
  'json' | 'jsonl' | 'jsonStrings' | 'jsonlStrings' | 'csv' | 'psv' | 'csvEscaped' | 'psvEscaped';

/** JSON or JSON lines; undefined for any other format. */
export function jsonFraming(format: BodyFormat): 'json' | 'jsonl' | undefined {
  if (format === 'json' || format === 'jsonStrings') return 'json';
  return format === 'jsonl' || format === 'jsonlStrings' ? 'jsonl' : undefined;
}

export const hasStrings = (format: BodyFormat): boolean =>
  format === 'jsonStrings' || format === 'jsonlStrings';

export type BodyFormat = TextFormat | 'arrow' | 'parquet';

/** A format as callers specify it: the forms of texts and decimals are separate parameters. */
export type PlainFormat = Exclude<BodyFormat, `${string}Strings` | `${string}Escaped`>;

/** Formats that DuckDB writes to files. */
export type FileFormat = TextFormat | 'parquet';

/** The compression of a text file. */
export type Compression = 'none' | 'gzip' | 'zstd';

/**
 * Optimizers that are slow for very many columns: the search for common subplans, in the serialized plan,
 * takes half a second for 1,000; the propagation of column statistics takes a fifth of a read
 * (0.48 s, 0.38 without it), and helps only aggregates.
 */
export type Optimizer = 'common_subplan' | 'statistics_propagation';

/** The files and the memory that an instance may use. Equal scopes share an instance. */
export interface Scope {
  /** Local files that may be read, and no others. */
  readonly files: readonly string[];
  /** If present, everything below these may be read; without `folder`, `files` must be below them. */
  readonly folders?: readonly string[];
  /** A writable folder for temporary Parquet and spill; absent for reads. */
  readonly folder?: string;
  /** Limit of spill in the folder; absent: the free space of the disk. */
  readonly spillBytes?: number;
  /** Folders of one workspace: its jobs share an instance that can access nothing else. */
  readonly shared?: readonly string[];
  /** The instance is kept for the next request of this scope, although it has a folder. */
  readonly isKept?: boolean;
  /** Optimizers to disable, in addition to those that always are. */
  readonly skips?: readonly Optimizer[];
  readonly memoryBytes: number;
  readonly threads: number;
}

export interface Request {
  readonly id: number;
  readonly scope: Scope;
  /** Run in order on one connection; temporary tables live from one to the next. */
  readonly statements: readonly string[];
  /** Index of a counting statement: if it returns 0, the later ones are skipped and have no rows. */
  readonly endsAt?: number;
  /** Bound to the last statement. */
  readonly parameters: readonly Bound[];
  /**
   * Rows as plain JSON values (exact: 64-bit integers as text), or the rendered body of the last statement,
   * or its pages, or only its columns, with name and type. For pages the first two columns are not
   * members, but the ascending number of the page and the number that orders the records.
   * `contents`: no statement runs; the rows are length and hash of each file of the scope.
   */
  readonly answer: 'rows' | BodyFormat | 'pages' | 'columns' | 'contents';
  /** Writes the body to a file in the scope's folder. */
  readonly file?: BodyFile;
  /** Name of a file that the statements write to that folder. */
  readonly written?: string;
  /** Reports progress while the statement runs. */
  readonly progress: boolean;
}

/** The target file of a body. */
export interface BodyFile {
  readonly name: string;
  readonly bytesMax: number;
  /** Up to this many rows are returned as bytes; for that, the rows are buffered first, within the limits. */
  readonly fewRows?: number;
  /** Compression of csv, psv, json and jsonl; absent: none. */
  readonly compression?: Compression;
}

export type ToChild =
  | { readonly kind: 'request'; readonly request: Request }
  | { readonly kind: 'interrupt'; readonly id: number };

export type Row = Readonly<Record<string, unknown>>;

/** A rendered body: bytes and counts are sent between processes instead of rows (DESIGN.md idea 6). */
export interface Body {
  readonly objects: number;
  readonly bytes: Uint8Array;
  /** Instead of bytes: a file, owned by the receiver of the body. */
  readonly file?: { readonly path: string; readonly length: number };
  /** Instead of bytes: their parts in order, which may be shared with other bodies. */
  readonly pieces?: readonly Uint8Array[];
}

export const fileTooLarge = (bytes: number): Failure =>
  new Failure('TooLarge', `the answer is over ${bytes} bytes: request less of it`);

/** The length of a body in bytes, wherever they are stored. */
export const bodyLength = ({ bytes, file, pieces }: Body): number =>
  file?.length ?? pieces?.reduce((sum, { byteLength }) => sum + byteLength, 0) ?? bytes.length;

/** All bytes of a body that is not a file. */
export const bodyBytes = ({ bytes, pieces }: Pick<Body, 'bytes' | 'pieces'>): Uint8Array =>
  pieces === undefined ? bytes : Buffer.concat(pieces);

/** Rendered records, one after the other, each with its separator. */
export interface Page {
  readonly bytes: Uint8Array;
  /** End offset of each record, including its separator. */
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
  /** The process is ready for requests. */
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

/** Largest rendered body; a larger one is refused with 413 and the advice to narrow the request. */
export const BODY_BYTES_MAX = 64 * 1024 ** 2;
