// What datasets and jobs were given since the first version of a folder.
import type { Kysely } from 'kysely';
import { addQuarantine } from './quarantine.ts';

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
