// What a dataset is by its place, where its owner says nothing: the inputs of the market in CORE are such.
import type { Row } from '../../duckdb/protocol.ts';
import type { PropertyType } from '../versions/columns.ts';
import type { SchemaContract } from './contracts.ts';
import type { ColumnMapping, Dataset } from './datasets.ts';
import type { FactReader } from './reportedFacts.ts';

export interface DatasetDefaults {
  readonly title: string;
  readonly weight: number;
  readonly mapping: ColumnMapping;
  /** Of the mapping, properties that a file need not have: its index is the rest then. */
  readonly mayMiss: readonly string[];
  /** Of the properties that a dataset of this name may have, by their names. */
  readonly types: Readonly<Record<string, PropertyType>>;
  /** Properties that a dataset of this name has from its first load on, whatever the file has. */
  readonly documented: readonly string[];
  /** Of a new dataset: what becomes of columns that are not documented. */
  readonly contract: SchemaContract;
  /** Properties whose texts are symbols, kept as `keptSymbol` spells them. */
  readonly symbols: readonly string[];
  readonly usual: UsualColumns;
  readonly rewrite: RewriteFile;
  readonly check?: PlaceCheck;
  /** Where records may be made of single values that a company reported. */
  readonly facts?: FactReader;
}

/**
 * What the columns of a file are by what vendors call them: column -> property, and the value of a
 * property that a file may leave out. Columns that are not known are not told.
 * @param taken properties that are given already
 * @param vendor whose file it is; recognised by its columns when undefined
 * @throws Failure InvalidBody where two columns may be the same property
 */
export type UsualColumns = (
  columns: readonly string[],
  taken: readonly string[],
  vendor?: string,
) => {
  readonly columns: Readonly<Record<string, string>>;
  readonly constants: Readonly<Record<string, string>>;
};

/** What a file says of its columns, before they are properties. */
export interface FileColumns {
  readonly columns: readonly string[];
  /** Column -> property, as its loader declares; `date+minute` for one that is both. */
  readonly declared: Readonly<Record<string, string | null>>;
  readonly constants: readonly string[];
  /** Other columns are what they usually are. */
  readonly guess: boolean;
  readonly vendor?: string | undefined;
}

/** How a file is written again before its columns are properties: no value is changed but as it says. */
export interface FileRewrite {
  /** Of the file: what each rewritten column is, as a loader would declare it. */
  readonly columns: Readonly<Record<string, string>>;
  /** A column of times as the day, and the minute, of the exchange. */
  readonly moment?: {
    readonly column: string;
    readonly day: string;
    readonly minute: string;
    readonly zone: string;
  };
  /** A column of splits as shares before and after. */
  readonly split?: {
    readonly column: string;
    readonly from: string;
    readonly to: string;
    /** Undefined: it is no split. */
    readonly parse: (
      text: string,
    ) => { readonly from: number; readonly to: number; readonly rounded: boolean } | undefined;
    readonly isNone: (text: string) => boolean;
  };
  /** A column of symbols, without what follows them. */
  readonly symbol?: { readonly column: string; readonly suffix: string };
  /** Rows whose number in this column is 0 are no records. */
  readonly nonZero?: string;
  /** Columns that stay out. */
  readonly leftOut: readonly string[];
  readonly constants: Readonly<Record<string, string | boolean>>;
  readonly notes: readonly string[];
}

/** Undefined where the file is read as it is. */
export type RewriteFile = (file: FileColumns) => FileRewrite | undefined;

/** What records of a load say about each other, and about those of another dataset of their workspace. */
export interface PlaceCheck {
  /** The other dataset. */
  readonly beside: string;
  /** Columns that are read of each; a record without an optional one has null. */
  readonly own: CheckColumns;
  readonly other: CheckColumns;
  /**
   * @param own a sub-select of the load's records
   * @param other one of the stored records of the other dataset; undefined where it has none
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
  /** What the records contradict: they are loaded only where the loader confirms it. */
  readonly contradiction?: string | undefined;
}

/** Names in any case; undefined: it is what its owner says, and nothing else. */
export type DefaultsOf = (
  place: Pick<Dataset, 'workspace' | 'dataset'>,
) => DatasetDefaults | undefined;
