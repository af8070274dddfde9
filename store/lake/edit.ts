// Defines the edits of a commit: files that it adds, and changes of tables.
import type { Proof } from '../files/proofTable.ts';
import type { Column } from './versions/columns.ts';

/** A published Parquet file that no commit references yet. */
export interface WrittenFile {
  /** File name below the table's folder. */
  readonly name: string;
  readonly records: number;
  readonly bytes: number;
  readonly footerBytes: number;
  readonly columns: readonly WrittenColumn[];
  /** Hash of its published bytes. */
  readonly proof: Omit<Proof, 'fileId'>;
}

export interface WrittenColumn {
  readonly columnId: number;
  readonly bytes: number;
  readonly values: number;
  readonly nulls: number;
  readonly min: string | null;
  readonly max: string | null;
  readonly containsNan: boolean | null;
}

export interface WrittenDeletes {
  readonly dataFileId: number;
  /** All deleted positions of the data file, old and new: at most one delete file is in force. */
  readonly file: WrittenFile;
}

/** One change of a commit, as data. */
export type Edit =
  | { readonly kind: 'create-workspace'; readonly name: string }
  | {
      readonly kind: 'create-table';
      readonly schemaId: number;
      readonly schemaName: string;
      readonly name: string;
      readonly columns: readonly Column[];
    }
  | { readonly kind: 'insert'; readonly tableId: number; readonly file: WrittenFile }
  /** Removes all records from this version; earlier versions keep theirs. */
  | { readonly kind: 'truncate'; readonly tableId: number }
  /** Removes the records of some files from this version; earlier versions keep them. */
  | {
      readonly kind: 'remove-files';
      readonly tableId: number;
      readonly fileIds: readonly number[];
    }
  /** Ends all earlier versions; `records` were removed from all versions. */
  | { readonly kind: 'end-history'; readonly tableId: number; readonly records: number }
  | { readonly kind: 'drop-table'; readonly tableId: number }
  | {
      readonly kind: 'rename-table';
      readonly tableId: number;
      readonly schemaName: string;
      readonly name: string;
    }
  | {
      readonly kind: 'add-columns';
      readonly tableId: number;
      readonly columns: readonly Omit<Column, 'id'>[];
    }
  /** Changes types of columns, by their ids; the same commit rewrites their values. */
  | {
      readonly kind: 'alter-columns';
      readonly tableId: number;
      readonly columns: readonly Column[];
    }
  | {
      readonly kind: 'drop-columns';
      readonly tableId: number;
      readonly columnIds: readonly number[];
    }
  | {
      readonly kind: 'delete';
      readonly tableId: number;
      readonly deletes: readonly WrittenDeletes[];
    };

export interface Head {
  readonly snapshot_id: number;
  readonly schema_version: number;
  readonly next_catalog_id: number;
  readonly next_file_id: number;
}

export interface Progress {
  readonly snapshot: number;
  readonly timeMs: number;
  schemaVersion: number;
  nextCatalogId: number;
  nextFileId: number;
  readonly changes: string[];
  readonly created: number[];
  readonly unnamed: string[];
}
