// Columns and tables that later folder versions added to datasets and jobs.
import type { Kysely } from 'kysely';
import { createTable, type SqlBoolean } from './createTable.ts';

/** Adds contracts, expectations and quarantined records. */
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

/** Adds the license of a dataset: the terms for showing and redistributing its records. */
export async function addLicenses(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('dataset')
    .addColumn('license', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
}

/** Adds whether the records of a dataset are numbered, and the notes of a job on its load. */
export async function addNumberedDatasets(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('dataset')
    .addColumn('is_numbered', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await database.schema.alterTable('job').addColumn('notes_json', 'text').execute();
}

/** Quarantined records. */
export interface QuarantineTable {
  readonly quarantine_id: string;
  readonly table_id: number;
  /** Digest of rule and record, so that a repeated record is stored once. */
  readonly digest: string;
  /** Null: a single write without a job. */
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

/** A file that was loaded into a dataset without a unique index, identified by its hash. */
export interface LoadedFileTable {
  readonly table_id: number;
  /** SHA-256 of the bytes and of the options that affect their decoding. */
  readonly digest: string;
  readonly bytes: number;
  readonly job_id: string | null;
  readonly records: number;
  readonly time_ms: number;
  /** Some of its records may be missing: rejected, deleted since, or read with another schema. */
  readonly is_partial: SqlBoolean;
}

/** Adds which indexes were inferred, the counts of replaced records of jobs, and the loaded files. */
export async function addInferredIndexes(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  const zero = 'bigint' as const;
  await schema
    .alterTable('dataset')
    .addColumn('is_inferred', zero, (column) => column.notNull().defaultTo(0))
    .execute();
  for (const name of ['records_replaced', 'records_unchanged']) {
    await schema
      .alterTable('job')
      .addColumn(name, zero, (column) => column.notNull().defaultTo(0))
      .execute();
  }
  await schema.alterTable('job').addColumn('columns_left_out_json', 'text').execute();
  await createTable(
    database,
    'loaded_file',
    `table_id bigint, digest text, bytes bigint, job_id text, records bigint, time_ms bigint,
     is_partial boolean`,
  );
  await schema
    .createIndex('loaded_file_by_table')
    .on('loaded_file')
    .columns(['table_id', 'digest'])
    .unique()
    .execute();
  await markInferred(database);
}

/** The columns that are read from a folder of an earlier version. */
interface EarlierTables {
  readonly dataset: {
    readonly table_id: number;
    readonly workspace: string;
    readonly is_numbered: number;
    readonly is_inferred: number;
  };
  readonly job: {
    readonly job_id: string;
    readonly load_json: string;
    readonly notes_json: string | null;
  };
  readonly ducklake_table: { readonly table_id: number; readonly begin_snapshot: number };
  readonly ducklake_data_file: { readonly table_id: number; readonly begin_snapshot: number };
  readonly ducklake_snapshot: { readonly snapshot_id: number; readonly snapshot_time: string };
  readonly ducklake_snapshot_changes: {
    readonly snapshot_id: number;
    readonly author: string | null;
    readonly commit_message: string | null;
  };
}

type Earlier = Kysely<EarlierTables>;

/**
 * Marks datasets whose unique index was inferred. Earlier versions did not record that, so it is derived
 * from jobs and commits. The index of a marked dataset is unchanged until its owner decides.
 */
async function markInferred(database: Earlier): Promise<void> {
  const tables = await database
    .selectFrom('dataset')
    .select(['table_id', 'workspace'])
    .where('is_numbered', '=', 0)
    .execute();
  for (const { table_id, workspace } of tables) {
    if (!(await isInferred(database, table_id, workspace))) continue;
    await database
      .updateTable('dataset')
      .set({ is_inferred: 1 })
      .where('table_id', '=', table_id)
      .execute();
  }
}

/** The note of a load job on an index that its caller, or the dataset's id, declared. */
const DECLARED = /, as (?:asked|its id says)$/;
const INFERRED = /, proved on all records$/;
/** A dataset created by a push has its first records within this time, because both are one request. */
const ONE_REQUEST_MS = 5_000;

async function isInferred(database: Earlier, tableId: number, workspace: string): Promise<boolean> {
  const [creation, first] = await findCommits(database, tableId);
  const jobId = creation?.author?.match(/ job ([0-9a-f]{32})$/)?.[1];
  if (jobId !== undefined) return isInferredByJob(await findJob(database, jobId), workspace);
  if (creation === undefined || first === undefined || workspace === 'CORE') return false;
  const isPush = first.author === creation.author && /^\d+ records into /.test(first.message);
  return isPush && first.timeMs - creation.timeMs < ONE_REQUEST_MS;
}

type JobRow = Omit<EarlierTables['job'], 'job_id'>;

function isInferredByJob(job: JobRow | undefined, workspace: string): boolean {
  const index = job === undefined ? undefined : firstNote(job);
  if (index !== undefined && DECLARED.test(index)) return false;
  if (index !== undefined && INFERRED.test(index)) return true;
  if (job !== undefined && JSON.parse(job.load_json).mapping !== undefined) return false;
  return workspace !== 'CORE';
}

const firstNote = ({ notes_json }: JobRow): string | undefined =>
  (JSON.parse(notes_json ?? '[]') as readonly string[])[0];

const findJob = (database: Earlier, jobId: string): Promise<JobRow | undefined> =>
  database
    .selectFrom('job')
    .select(['load_json', 'notes_json'])
    .where('job_id', '=', jobId)
    .executeTakeFirst();

interface Commit {
  readonly author: string | null;
  readonly message: string;
  readonly timeMs: number;
}

/** The commit that created a table, and the first that stored records in it. */
async function findCommits(
  database: Earlier,
  tableId: number,
): Promise<readonly (Commit | undefined)[]> {
  const begins = await Promise.all(
    (['ducklake_table', 'ducklake_data_file'] as const).map((table) =>
      database
        .selectFrom(table)
        .select((select) => [select.fn.min('begin_snapshot').as('snapshot')])
        .where('table_id', '=', tableId)
        .executeTakeFirst(),
    ),
  );
  return Promise.all(
    begins.map(async (begin) => {
      if (begin?.snapshot === null || begin === undefined) return undefined;
      const row = await database
        .selectFrom('ducklake_snapshot_changes as c')
        .innerJoin('ducklake_snapshot as s', 's.snapshot_id', 'c.snapshot_id')
        .select(['c.author', 'c.commit_message', 's.snapshot_time'])
        .where('c.snapshot_id', '=', Number(begin.snapshot))
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const timeMs = Date.parse(row.snapshot_time);
      return { author: row.author, message: row.commit_message ?? '', timeMs };
    }),
  );
}
