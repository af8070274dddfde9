// The longest files first, so that none of them is alone at the end.
import type { Durations } from './durations.ts';

/**
 * Of the files that take longest, about how long, for a machine that has not run them yet; the
 * others are taken for shorter.
 */
const LONG_MS: Durations = {
  'test/laws/laws.test.ts': 79_000,
  'test/pipeline/wide.test.ts': 69_000,
  'test/jobs/export/exports.test.ts': 66_000,
  'test/crash/crash.test.ts': 60_000,
  'test/store/postgres/loads.test.ts': 50_000,
  'test/market/exchange/fill.test.ts': 46_000,
  'test/store/postgres/nodeReads.test.ts': 41_000,
  'test/http/transcripts.test.ts': 40_000,
  'test/crash/nodes.test.ts': 38_000,
  'test/pipeline/vegaFiles.test.ts': 38_000,
  'test/documents/examples.test.ts': 37_000,
  'test/fuzz/licence.test.ts': 37_000,
  'test/store/postgres/nodes.test.ts': 33_000,
  'test/store/postgres/engine.test.ts': 32_000,
  'test/walks/developer.test.ts': 31_000,
  'test/sql/secondOpinion.test.ts': 29_000,
  'test/api/read/testValues.test.ts': 27_000,
  'test/house.test.ts': 27_000,
  'test/documents/marketShapes.test.ts': 27_000,
  'test/fuzz/sqlBombs.test.ts': 26_000,
  'test/pipeline/sources/s3.test.ts': 25_000,
  'test/cli/cli.test.ts': 25_000,
  'test/life/schedules.test.ts': 24_000,
  'test/api/streams/replays.test.ts': 23_000,
  'test/cli/drain.test.ts': 23_000,
  'test/fuzz/sqlCorpus.test.ts': 23_000,
  'test/crash/nodes/quota.test.ts': 23_000,
  'test/fuzz/sqlTexts.test.ts': 22_000,
  'test/jobs/backup.test.ts': 22_000,
  'test/crash/rules.test.ts': 22_000,
  'test/store/postgres/served.test.ts': 21_000,
  'test/api/http/oddPlaces.test.ts': 21_000,
  'test/life/recordsLimit.test.ts': 21_000,
  'test/jobs/purge.test.ts': 21_000,
  'test/fuzz/named.test.ts': 21_000,
  'test/pipeline/values/writtenNumbers.test.ts': 21_000,
  'test/jobs/reingest.test.ts': 20_000,
  'test/sql/selects.test.ts': 20_000,
  'test/pipeline/jsonWays.test.ts': 20_000,
  'test/jobs/move.test.ts': 20_000,
  'test/pipeline/values/writtenDates.test.ts': 20_000,
  'test/sql/slt.test.ts': 20_000,
  'test/fuzz/stalls.test.ts': 19_000,
  'test/api/read/sqlBodies.test.ts': 18_000,
  'test/crash/nodes/cuts.test.ts': 18_000,
  'test/crash/postgres.test.ts': 17_000,
  'test/api/matrix/matrixTokens.test.ts': 17_000,
  'test/store/catalog/oldFolders.test.ts': 17_000,
  'test/console/tour.test.ts': 17_000,
  'test/market/capture/captureBook.test.ts': 16_000,
  'test/console/safety.test.ts': 16_000,
  'test/cli/ingest.test.ts': 16_000,
  'test/pipeline/sources/postgres.test.ts': 16_000,
  'test/jobs/reingestKill.test.ts': 16_000,
  'test/cli/coreLoad.test.ts': 16_000,
  'test/store/postgres/busNodes.test.ts': 16_000,
  'test/fuzz/fuzz.test.ts': 16_000,
  'test/cli/export.test.ts': 15_000,
  'test/api/http/slowReaders.test.ts': 15_000,
  'test/clients/iexjsMarket.test.ts': 15_000,
  'test/recipes/sec-company-facts.test.ts': 15_000,
  'test/cli/processes.test.ts': 15_000,
  'test/fuzz/sqlRequests.test.ts': 15_000,
  'test/clients/iexjsLoaded.test.ts': 14_000,
  'test/store/postgres/standby.test.ts': 14_000,
  'test/query/rowsSure.test.ts': 14_000,
  'test/api/streams/storedFeed.test.ts': 14_000,
  'test/pipeline/oddFiles.test.ts': 13_000,
  'test/bench/cluster/saturation.test.ts': 13_000,
  'test/crash/downloads.test.ts': 13_000,
  'test/market/capture/captureReplay.test.ts': 13_000,
  'test/jobs/upstreams.test.ts': 13_000,
  'test/pipeline/schemaEdit.test.ts': 13_000,
  'test/jobs/pending.test.ts': 13_000,
  'test/console/tenMinutes.test.ts': 12_000,
  'test/life/life.test.ts': 12_000,
  'test/pipeline/ingest.test.ts': 12_000,
  'test/jobs/upkeep.test.ts': 12_000,
  'test/pipeline/targets/s3Target.test.ts': 12_000,
  'test/store/bucket/bucket.test.ts': 12_000,
  'test/api/matrix/matrixAccounts.test.ts': 11_000,
  'test/api/read/stockHostile.test.ts': 11_000,
  'test/api/read/moments.test.ts': 11_000,
  'test/market/capture/captureFeed.test.ts': 11_000,
  'test/store/postgres/lending.test.ts': 11_000,
  'test/pipeline/firstLoad.test.ts': 11_000,
  'test/deploy/image.test.ts': 11_000,
  'test/lake/ours.test.ts': 11_000,
  'test/store/leases.test.ts': 11_000,
  'test/store/duckdb/arrow.test.ts': 11_000,
  'test/pipeline/sources/http.test.ts': 10_000,
  'test/laws/writtenDates.test.ts': 10_000,
  'test/api/read/seriesHostile.test.ts': 10_000,
  'test/crash/fatalJob.test.ts': 10_000,
  'test/crash/streams.test.ts': 10_000,
  'test/api/read/dataPoints.test.ts': 10_000,
  'test/jobs/lostChild.test.ts': 10_000,
  'test/api/rules/datasetOutput.test.ts': 10_000,
  'test/pipeline/expectations.test.ts': 10_000,
};
const UNKNOWN_MS = 5_000;

/** A process goes on with the next file only when that is of the same project. */
const PROJECTS = ['alone', 'servers', 'pure'];

interface TestFile {
  /** From the root. */
  readonly path: string;
  readonly project: string;
}

/** The places of the files in the order to run them. */
export function longestFirst(files: readonly TestFile[], known: Durations): readonly number[] {
  const places = files.map(({ path, project }, at) => ({
    at,
    ms: known[path] ?? LONG_MS[path] ?? UNKNOWN_MS,
    project: PROJECTS.indexOf(project),
  }));
  return places
    .sort((one, other) => one.project - other.project || other.ms - one.ms || one.at - other.at)
    .map(({ at }) => at);
}
