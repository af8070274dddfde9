// Datasets and workspaces as their owners know them, held in memory: the hot path asks no database.
import type { PropertyType } from '../versions/columns.ts';
import { type Expectation, type SchemaContract, USUAL_CONTRACT } from './contracts.ts';

/** The operator's workspace that every account reads (INTERFACE.md 3.1), in any case. */
export const CORE = 'CORE';

export interface Workspace {
  readonly workspace: string;
  readonly accountId: string;
  readonly schemaId: number;
}

/** Which property plays which part of the unique index; an absent part is not mapped. */
export interface ColumnMapping {
  readonly key?: string;
  readonly subkey?: string;
  readonly date?: string;
}

/** Whether key or date name what an index can be made of. */
export const isMapped = ({ key, date }: ColumnMapping): boolean =>
  key !== undefined || date !== undefined;

/** Which properties order and find the records of a dataset, and whether they are unique together. */
export interface DatasetIndex {
  readonly mapping: ColumnMapping;
  /** There is no unique index: records are numbered, and equal ones are all kept. */
  readonly numbered: boolean;
  /**
   * Inferred from data and declared by nobody. It orders records and finds them. A dataset of an earlier
   * version may still be unique by it (not `numbered`), until its owner chooses.
   */
  readonly inferred: boolean;
}

export const isSameMapping = (one: ColumnMapping, other: ColumnMapping): boolean =>
  one.key === other.key && one.subkey === other.subkey && one.date === other.date;

/** Properties that every record must have. An inferred index requires nothing: it may reject no record. */
export const requiredOf = ({ inferred, mapping, numbered }: DatasetIndex): readonly string[] => {
  const { date, key, subkey } = mapping;
  if (numbered && inferred) return [];
  return (numbered ? [date] : [key, subkey, date]).filter((name) => name !== undefined);
};

/** The schema of a record, as JSON schema spells it (INTERFACE.md 3.3). */
export interface RecordSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, PropertyType>>;
  readonly required: readonly string[];
}

/** Who besides its owner may read a dataset, and who pays how. */
export interface Access {
  /**
   * Of workspace CORE. open: every account. premium: accounts with premium messages, which it costs.
   * restricted: accounts it was granted to. enterprise: the same, told as a missing permission (SPEC.md
   * "Errors").
   */
  readonly level: 'open' | 'premium' | 'restricted' | 'enterprise';
  /** Least tier that may read it. */
  readonly tier?: string;
  /**
   * What a query of another account is charged by: the records that its answer is made of, or the
   * answer's rows or bytes, as over one's own data. Records when absent.
   */
  readonly sqlPrice?: 'records' | 'answer';
  /**
   * Minutes after which other accounts see a record, but for those it was granted to. A record dated by a day
   * is as old as the day's end. At once when absent.
   */
  readonly delayMinutes?: number;
  /** Of any other workspace: accounts that read it. None but the owner's when absent. */
  readonly accounts?: readonly Share[];
}

/** An account that reads a dataset of another one, and on which terms. */
export interface Share {
  readonly accountId: string;
  /** Messages for each record; the dataset's own where none is given. */
  readonly weight?: number;
  /** Least tier that may read it. */
  readonly tier?: string;
  /** Minutes after which it sees a record; the dataset's own where none are given. */
  readonly delayMinutes?: number;
}

/** A property that holds symbols of a known kind (INTERFACE.md 3.3). */
export interface SmartLink {
  readonly attributeName: string;
  readonly type: string;
}

export interface Dataset extends DatasetIndex {
  readonly tableId: number;
  readonly workspace: string;
  readonly dataset: string;
  readonly title: string;
  readonly description: string;
  readonly source: string;
  /** On which terms its records may be shown and passed on, in words. */
  readonly license: string;
  /** Messages for each record that is returned. */
  readonly weight: number;
  readonly schema: RecordSchema;
  readonly access: Access;
  readonly smartLinks: readonly SmartLink[];
  /** Days for which its versions are kept; null: as the server keeps them. */
  readonly historyDays: number | null;
  readonly contract: SchemaContract;
  readonly expectations: readonly Expectation[];
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** What owners leave unsaid about a new dataset. */
export const UNSAID = {
  title: '',
  description: '',
  source: '',
  license: '',
  weight: 1,
  numbered: false,
  inferred: false,
  access: { level: 'open' },
  smartLinks: [],
  historyDays: null,
  contract: USUAL_CONTRACT,
  expectations: [],
} as const satisfies Partial<Dataset>;
