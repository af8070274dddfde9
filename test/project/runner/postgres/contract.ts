// The store's contract: these files run a second time, with their catalogs in PostgreSQL.

/** The name of that run. */
export const ON_POSTGRES = 'postgres';

/** Environment variable with the URL of that PostgreSQL. */
export const POSTGRES_URL = 'TAPEDECK_TEST_POSTGRES';

/** Paths from the root. Files that open the catalog's file directly, or copy a folder, are not part of it. */
export const CONTRACT: readonly string[] = [
  'test/life/walks/smoke.test.ts',
  'test/store/lake/asOf.test.ts',
  'test/store/ledger/ledger.test.ts',
  'test/store/lake/manyDatasets.test.ts',
  'test/store/lake/storage.test.ts',
  'test/store/lake/ours.test.ts',
  'test/pipeline/contract.test.ts',
  'test/pipeline/schema/expectations.test.ts',
  'test/pipeline/ingest.test.ts',
  'test/pipeline/schema/schemaEdit.test.ts',
  'test/jobs/upkeep/journal.test.ts',
  'test/jobs/writes/pending.test.ts',
  'test/jobs/upkeep/purge.test.ts',
  'test/jobs/upkeep/reingest.test.ts',
  'test/jobs/schedules.test.ts',
  'test/jobs/upkeep/upkeep.test.ts',
  'test/api/auth/licence.test.ts',
  'test/api/auth/secrets.test.ts',
  'test/api/read/views.test.ts',
  'test/api/rules/datasetOutput.test.ts',
  'test/api/streams/restart.test.ts',
];
