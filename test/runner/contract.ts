// The store's contract: these files run a second time, with their catalogs in PostgreSQL.

/** The name of that run. */
export const ON_POSTGRES = 'postgres';

/** Tells its files where that is. */
export const POSTGRES_URL = 'TAPEDECK_TEST_POSTGRES';

// All of them take four minutes of processor time, a quarter of the whole suite.
const IN_CI = [
  'test/smoke.test.ts',
  'test/lake/ours.test.ts',
  'test/store/ledger.test.ts',
  'test/store/manyDatasets.test.ts',
  'test/store/storage.test.ts',
  'test/pipeline/schemaEdit.test.ts',
  'test/jobs/journal.test.ts',
  'test/jobs/pending.test.ts',
  'test/jobs/purge.test.ts',
  'test/api/read/views.test.ts',
];

const BESIDES = [
  'test/store/asOf.test.ts',
  'test/pipeline/contract.test.ts',
  'test/pipeline/expectations.test.ts',
  'test/pipeline/ingest.test.ts',
  'test/jobs/reingest.test.ts',
  'test/jobs/schedules.test.ts',
  'test/jobs/upkeep.test.ts',
  'test/api/auth/licence.test.ts',
  'test/api/auth/secrets.test.ts',
  'test/api/rules/datasetOutput.test.ts',
  'test/api/streams/restart.test.ts',
];

/**
 * Paths from the root; `WHOLE_CONTRACT=1 npx vitest run --project postgres` runs all. What opens the
 * catalog's file by itself, or copies a folder, is no part of it.
 */
export const contractFiles = (isWhole: boolean): readonly string[] =>
  isWhole ? [...IN_CI, ...BESIDES] : IN_CI;
