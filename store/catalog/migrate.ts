// The migrations of the data folder. A released step never changes.
import { type Kysely, sql } from 'kysely';
import { addAccounts, addCeilings, addFullSignatures } from './tables/accounts.ts';
import type { Database } from './database.ts';
import { Failure } from '../base/failure.ts';
import { createLakeTables } from './tables/lake.ts';
import { addLookupIndexes } from './tables/lookupIndexes.ts';
import { addClockMarks, addPending, addPushLog, addWriteKeys } from './tables/pushes.ts';
import { createServiceTables } from './tables/service.ts';
import { addDataSources, addFeedPositions } from './tables/sources.ts';
import {
  addContracts,
  addInferredIndexes,
  addLicenses,
  addNumberedDatasets,
} from './tables/datasets.ts';
import { addExports, addPublications } from './tables/exports.ts';
import { addHistoryFloors } from './tables/history.ts';
import { addNamedQueries } from './tables/views.ts';
import { addFileProofs } from './tables/fileProofs.ts';
import { addCursorSequences, addQueryCursors } from './tables/cursors.ts';
import { addSchedules } from './tables/schedules.ts';
import { addRules } from './tables/rules.ts';
import { addWebhooks } from './tables/webhooks.ts';

type Step = (database: Kysely<unknown>) => Promise<void>;

/** `STEPS[n]` leads from folder version n to n + 1. */
const STEPS: readonly Step[] = [
  async (database) => {
    await createLakeTables(database);
    await createServiceTables(database);
  },
  addAccounts,
  async (database) => {
    await addPending(database);
    await addQueryCursors(database);
  },
  addHistoryFloors,
  addNamedQueries,
  async (database) => {
    await addDataSources(database);
    await addSchedules(database);
    await addWebhooks(database);
  },
  addContracts,
  addExports,
  addFileProofs,
  addFullSignatures,
  async (database) => {
    await addClockMarks(database);
    await addPushLog(database);
    await addCursorSequences(database);
  },
  addLookupIndexes,
  addNumberedDatasets,
  addPublications,
  addLicenses,
  addRules,
  addFeedPositions,
  async (database) => {
    await addInferredIndexes(database);
    await addCeilings(database);
  },
  addWriteKeys,
];

/** The folder version of this program. */
export const FOLDER_VERSION = STEPS.length;

/**
 * Migrates the catalog to this program's version, each step in one transaction.
 * @throws Failure Conflict if the folder was written by a newer program.
 */
export async function migrate(database: Database): Promise<void> {
  for (const step of await pendingSteps(database)) await database.transaction().execute(step);
}

/** Migrates the catalog within a transaction. */
export async function migrateInside(transaction: Database): Promise<void> {
  for (const step of await pendingSteps(transaction)) await step(transaction);
}

async function pendingSteps(
  database: Database,
): Promise<readonly ((transaction: Database) => Promise<void>)[]> {
  const version = await folderVersion(database);
  if (version > STEPS.length) {
    throw new Failure(
      'Conflict',
      `the data folder has version ${version}, this program knows ${STEPS.length}: use a newer one`,
    );
  }
  return STEPS.slice(version).map((step, at) => async (transaction) => {
    await step(transaction as unknown as Kysely<unknown>);
    await transaction.deleteFrom('folder').where('key', '=', 'version').execute();
    const row = { key: 'version', value: String(version + at + 1) };
    await transaction.insertInto('folder').values(row).execute();
  });
}

/** Reads the version of the catalog's tables; 0 if there are none. */
export async function folderVersion(database: Database): Promise<number> {
  const tables = await database.introspection.getTables();
  if (!tables.some((table) => table.name === 'folder')) return 0;
  const { rows } = await sql<{
    value: string;
  }>`select value from folder where key = 'version'`.execute(database);
  return Number(rows[0]?.value ?? 0);
}
