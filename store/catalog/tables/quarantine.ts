// Records that are kept aside.
import type { Kysely } from 'kysely';
import { createTable } from './createTable.ts';

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

const COLUMNS = `quarantine_id! text, table_id bigint, digest text, job_id text, line bigint, rule text,
  document text, time_ms bigint`;

export async function addQuarantine(database: Kysely<unknown>): Promise<void> {
  await createTable(database, 'quarantine', COLUMNS);
  await database.schema
    .createIndex('quarantine_by_table')
    .on('quarantine')
    .columns(['table_id', 'digest'])
    .unique()
    .execute();
}
