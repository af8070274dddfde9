// What datasets and jobs were given since the first version of a folder.
import type { Kysely } from 'kysely';
import { createTable } from './createTable.ts';

/** The folder version that knows contracts, expectations and quarantined records. */
export async function addContracts(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  await schema.alterTable('dataset').addColumn('contract_json', 'text').execute();
  await schema.alterTable('dataset').addColumn('expectations_json', 'text').execute();
  await schema
    .alterTable('job')
    .addColumn('records_quarantined', 'bigint', (column) => column.defaultTo(0))
    .execute();
  await addQuarantine(database);
}

/** On which terms the records of a dataset may be shown and passed on. */
export async function addLicenses(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('dataset')
    .addColumn('license', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
}

/** Whether the records of a dataset are numbered, and what a job tells of its load. */
export async function addNumberedDatasets(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('dataset')
    .addColumn('is_numbered', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await database.schema.alterTable('job').addColumn('notes_json', 'text').execute();
}

/** Records that are kept aside. */
export interface QuarantineTable {
  readonly quarantine_id: string;
  readonly table_id: number;
  /** Of rule and record: what comes again is not kept twice. */
  readonly digest: string;
  /** Null: a single record that was written. */
  readonly job_id: string | null;
  readonly line: number;
  readonly rule: string;
  /** JSON: the record by its column names, as a load reads them. */
  readonly document: string;
  readonly time_ms: number;
}

const QUARANTINE = `quarantine_id! text, table_id bigint, digest text, job_id text, line bigint, rule text,
  document text, time_ms bigint`;

async function addQuarantine(database: Kysely<unknown>): Promise<void> {
  await createTable(database, 'quarantine', QUARANTINE);
  await database.schema
    .createIndex('quarantine_by_table')
    .on('quarantine')
    .columns(['table_id', 'digest'])
    .unique()
    .execute();
}
