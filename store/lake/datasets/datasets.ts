// Defines datasets and workspaces as their owners see them. They are kept in memory: the hot path reads no
// database.
import type { PropertyType } from '../versions/columns.ts';
import { type Expectation, type SchemaContract, DEFAULT_CONTRACT } from './contracts.ts';

/** The operator's workspace that every account reads (INTERFACE.md 3.1), ignoring case. */
export const CORE = 'CORE';

export interface Workspace {
  readonly workspace: string;
  readonly accountId: string;
  readonly schemaId: number;
}

/** Property of each part of the unique index; an absent part is not mapped. */
export interface ColumnMapping {
  readonly key?: string;
  readonly subkey?: string;
  readonly date?: string;
}

/** Whether key or date are mapped, so that an index exists. */
export const isMapped = ({ key, date }: ColumnMapping): boolean =>
  key !== undefined || date !== undefined;

/** Properties that order and find the records of a dataset, and whether they are unique together. */
export interface DatasetIndex {
  readonly mapping: ColumnMapping;
  /** No unique index: records are numbered, and equal ones are all stored. */
  readonly numbered: boolean;
  /**
   * Inferred from data, not declared. It orders records and finds them. A dataset of an earlier version may
   * still be unique by it (not `numbered`), until its owner chooses.
   */
  readonly inferred: boolean;
}

export const isSameMapping = (one: ColumnMapping, other: ColumnMapping): boolean =>
  one.key === other.key && one.subkey === other.subkey && one.date === other.date;

/** Lists properties that every record must have; none for an inferred index, which may reject no record. */
export const listRequired = ({ inferred, mapping, numbered }: DatasetIndex): readonly string[] => {
  const { date, key, subkey } = mapping;
  if (numbered && inferred) return [];
  return (numbered ? [date] : [key, subkey, date]).filter((name) => name !== undefined);
};

/** The schema of a record as JSON schema (INTERFACE.md 3.3). */
export interface RecordSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, PropertyType>>;
  readonly required: readonly string[];
}

/** Access of accounts other than the owner, and its price. */
export interface Access {
  /**
   * For workspace CORE. open: every account. premium: accounts with premium messages, which it costs.
   * restricted: accounts with a grant. enterprise: as restricted, but refused as a missing permission
   * (SPEC.md "Errors").
   */
  readonly level: 'open' | 'premium' | 'restricted' | 'enterprise';
  /** Lowest tier that may read it. */
  readonly tier?: string;
  /**
   * Basis of the charge for queries of other accounts: the source records of the answer, or the answer's rows
   * or bytes, as for own data. Records when absent.
   */
  readonly sqlPrice?: 'records' | 'answer';
  /**
   * Delay in minutes before other accounts without a grant see a record. A record dated by a day is as old as
   * the day's end. No delay when absent.
   */
  readonly delayMinutes?: number;
  /** For other workspaces: accounts that may read it; only the owner's when absent. */
  readonly accounts?: readonly Share[];
}

/** An account that reads a dataset of another one, and its terms. */
export interface Share {
  readonly accountId: string;
  /** Messages for each record; default: the dataset's own weight. */
  readonly weight?: number;
  /** Lowest tier that may read it. */
  readonly tier?: string;
  /** Delay in minutes before it sees a record; default: the dataset's own. */
  readonly delayMinutes?: number;
}

/** A property with symbols of a known kind (INTERFACE.md 3.3). */
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
  /** License text: terms for showing and passing on its records. */
  readonly license: string;
  /** Messages for each returned record. */
  readonly weight: number;
  readonly schema: RecordSchema;
  readonly access: Access;
  readonly smartLinks: readonly SmartLink[];
  /** Days for which its versions are kept; null for the server's retention. */
  readonly historyDays: number | null;
  readonly contract: SchemaContract;
  readonly expectations: readonly Expectation[];
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Defaults of a new dataset. */
export const DATASET_DEFAULTS = {
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
  contract: DEFAULT_CONTRACT,
  expectations: [],
} as const satisfies Partial<Dataset>;
