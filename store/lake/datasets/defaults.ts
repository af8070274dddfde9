// What a dataset is by its place, where its owner says nothing: the inputs of the market in CORE are such.
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
  /** Where records may be made of single values that a company reported. */
  readonly facts?: FactReader;
}

/**
 * What the columns of a file are by what vendors call them: column -> property, and the value of a
 * property that a file may leave out. Columns that are not known are not told.
 * @param taken properties that are given already
 * @throws Failure InvalidBody where two columns may be the same property
 */
export type UsualColumns = (
  columns: readonly string[],
  taken: readonly string[],
) => {
  readonly columns: Readonly<Record<string, string>>;
  readonly constants: Readonly<Record<string, string>>;
};

/** Names in any case; undefined: it is what its owner says, and nothing else. */
export type DefaultsOf = (
  place: Pick<Dataset, 'workspace' | 'dataset'>,
) => DatasetDefaults | undefined;
