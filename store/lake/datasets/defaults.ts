// Describes defaults of datasets by their names, where the owner specifies nothing, such as the market inputs
// in CORE.
import type { Row } from '../../duckdb/protocol.ts';
import type { PropertyType } from '../versions/columns.ts';
import type { SchemaContract } from './contracts.ts';
import type { ColumnMapping, Dataset } from './datasets.ts';
import type { FactReader } from './xbrlFacts.ts';

export interface DatasetDefaults {
  readonly title: string;
  readonly weight: number;
  readonly mapping: ColumnMapping;
  /** Mapped properties that a file may lack; the index then uses the others. */
  readonly optional: readonly string[];
  /** Types of the properties that a dataset of this name may have, by property. */
  readonly types: Readonly<Record<string, PropertyType>>;
  /** Properties that a dataset of this name has from its first load on, independent of the file. */
  readonly documented: readonly string[];
  /** Contract of a new dataset, for undocumented columns. */
  readonly contract: SchemaContract;
  /** Properties whose texts are symbols, stored in normalized spelling. */
  readonly symbols: readonly string[];
  readonly guessColumns: GuessColumns;
  readonly rewrite: RewriteFile;
  readonly check?: CrossCheck;
  /** Converts single values reported by companies to records, where supported. */
  readonly factReader?: FactReader;
}

/**
 * Maps the columns of a file by the names that vendors use: column -> property, and the values of properties
 * that a file may omit. Unknown columns are not included.
 * @param mapped properties that are already mapped
 * @param vendor vendor of the file; recognised by its columns when undefined
 * @throws Failure InvalidBody when two columns may be the same property
 */
export type GuessColumns = (
  columns: readonly string[],
  mapped: readonly string[],
  vendor?: string,
) => {
  readonly columns: Readonly<Record<string, string>>;
  readonly constants: Readonly<Record<string, string>>;
};

/** Columns of a file before they are mapped to properties. */
export interface FileColumns {
  readonly columns: readonly string[];
  /** Column -> property, as the loader declares; `date+minute` for both in one column. */
  readonly declared: Readonly<Record<string, string | null>>;
  readonly constants: readonly string[];
  /** Maps other columns by their usual names. */
  readonly guess: boolean;
  readonly vendor?: string | undefined;
}

/** Rewrite of a file before its columns are mapped; other values stay unchanged. */
export interface FileRewrite {
  /** Column -> property of the rewritten file, as a loader would declare it. */
  readonly columns: Readonly<Record<string, string>>;
  /** Splits a column of times into the day and the minute of the exchange. */
  readonly moment?: {
    readonly column: string;
    readonly day: string;
    readonly minute: string;
    readonly zone: string;
  };
  /** Splits a column of ratios into shares before and after. */
  readonly split?: {
    readonly column: string;
    readonly from: string;
    readonly to: string;
    /** Undefined for a text that is not a split. */
    readonly parse: (
      text: string,
    ) => { readonly from: number; readonly to: number; readonly rounded: boolean } | undefined;
    readonly isNone: (text: string) => boolean;
  };
  /** Removes a suffix from a column of symbols. */
  readonly symbol?: { readonly column: string; readonly suffix: string };
  /** Rows with 0 in this column are dropped. */
  readonly nonZero?: string;
  /** Excluded columns. */
  readonly excluded: readonly string[];
  readonly constants: Readonly<Record<string, string | boolean>>;
  readonly notes: readonly string[];
}

/** Returns undefined when the file is read unchanged. */
export type RewriteFile = (file: FileColumns) => FileRewrite | undefined;

/** Checks records of a load against each other, and against another dataset of their workspace. */
export interface CrossCheck {
  /** The other dataset. */
  readonly otherDataset: string;
  /** Columns to read of each; a missing optional one is null. */
  readonly own: CheckColumns;
  readonly other: CheckColumns;
  /**
   * @param own sub-select of the load's records
   * @param other sub-select of the stored records of the other dataset; undefined when it has none
   */
  readonly statements: (own: string, other: string | undefined) => readonly string[];
  readonly report: (answers: readonly (readonly Row[])[]) => CheckReport;
}

/** Name -> type of SQL. */
interface CheckColumns {
  readonly required: readonly string[];
  readonly optional: Readonly<Record<string, string>>;
}

interface CheckReport {
  readonly notes: readonly string[];
  /** Contradiction: the records are loaded only if the loader confirms. */
  readonly contradiction?: string | undefined;
}

/** Finds defaults by names, ignoring case; undefined when the owner alone defines the dataset. */
export type FindDefaults = (
  place: Pick<Dataset, 'workspace' | 'dataset'>,
) => DatasetDefaults | undefined;
