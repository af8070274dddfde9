// Folder version 2: rights and limits of accounts and tokens, the journal of charges, and the audit log.
import { type Kysely, sql } from 'kysely';
import { createTable, hasColumn } from './createTable.ts';

export interface RetiredTokenTable {
  /** Hash of a token that was replaced by a rotation, to distinguish it from an unknown one. */
  readonly hash: string;
  readonly token_id: string;
  readonly time_ms: number;
}

export interface AuditTable {
  readonly sequence: number;
  readonly time_ms: number;
  /** `admin`, or the id of the token that was used. */
  readonly actor: string;
  readonly account_id: string;
  readonly action: string;
  /** JSON: the parameters of the change. Never a token or a secret. */
  readonly detail_json: string;
}

export interface JournalTable {
  readonly sequence: number;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly calls: number;
  /** JSON lines, one for each charged call (journal.ts). */
  readonly lines: string;
}

const NEW_TABLES: Readonly<Record<string, string>> = {
  retired_token: 'hash! text, token_id text, time_ms bigint',
  audit:
    'sequence! bigint, time_ms bigint, actor text, account_id text, action text, detail_json text',
  journal: 'sequence! bigint, first_ms bigint, last_ms bigint, calls bigint, lines text',
};

type Default = string | number | boolean | null;
type NewColumn = readonly [name: string, type: 'bigint' | 'text' | 'boolean', fallback: Default];

const NEW_COLUMNS: Readonly<Record<string, readonly NewColumn[]>> = {
  account: [
    ['suspended', 'boolean', false],
    ['circuit_breaker', 'bigint', null],
    ['budget', 'bigint', null],
    ['premium_messages', 'bigint', 0],
    ['grants_json', 'text', '[]'],
    ['default_workspace', 'text', null],
  ],
  token: [
    ['name', 'text', ''],
    ['test', 'boolean', false],
    ['message_limit', 'bigint', null],
    ['grants_json', 'text', null],
    ['core', 'boolean', true],
    ['premium', 'boolean', true],
    ['addresses_json', 'text', '[]'],
    ['referrers_json', 'text', '[]'],
    ['signing_secret', 'text', null],
    ['refuse_replays', 'boolean', false],
    ['last_used_ms', 'bigint', null],
  ],
  dataset: [
    ['access_json', 'text', '{"level":"open"}'],
    ['smart_links_json', 'text', '[]'],
  ],
  balance: [['premium', 'bigint', 0]],
  usage: [['premium', 'bigint', 0]],
};

/** Publishable tokens of a folder of version 1 can read every dataset of their account: they still can. */
const READ_ALL = JSON.stringify([{ datasets: '*', rights: ['read'] }]);

/** In older folders every token accepts both forms of a signature, as before. */
export async function addFullSignatures(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .alterTable('token')
    .addColumn('full_signatures', 'boolean', (column) => column.defaultTo(sql.lit(false)))
    .execute();
}

/** Adds the order and the attempts of jobs, which the first folders of version 1 lack. */
async function completeJobs(database: Kysely<unknown>): Promise<void> {
  if (!(await hasColumn(database, 'job', 'sequence'))) {
    await database.schema.alterTable('job').addColumn('sequence', 'bigint').execute();
    await sql`update job set sequence = (select count(*) from job as other
      where other.created_ms < job.created_ms
        or (other.created_ms = job.created_ms and other.job_id <= job.job_id))`.execute(database);
  }
  if (await hasColumn(database, 'job', 'attempts')) return;
  await database.schema
    .alterTable('job')
    .addColumn('attempts', 'bigint', (column) => column.defaultTo(0))
    .execute();
}

export async function addAccounts(database: Kysely<unknown>): Promise<void> {
  await completeJobs(database);
  for (const [table, columns] of Object.entries(NEW_TABLES)) {
    await createTable(database, table, columns);
  }
  for (const [table, columns] of Object.entries(NEW_COLUMNS)) {
    for (const [name, type, fallback] of columns) {
      await database.schema
        .alterTable(table)
        .addColumn(name, type, (column) => {
          if (fallback === null) return column;
          return column.defaultTo(typeof fallback === 'boolean' ? sql.lit(fallback) : fallback);
        })
        .execute();
    }
  }
  await sql`update token set grants_json = ${READ_ALL} where kind = 'publishable'`.execute(
    database,
  );
}

/** The operator's limit on the messages of a month, in addition to the account's own budget. */
export async function addCeilings(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable('account').addColumn('ceiling', 'bigint').execute();
}
