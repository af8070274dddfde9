// The longest files run first, so that none of them is alone at the end.
import type { Durations } from './durations.ts';

/**
 * Approximate durations of the longest files, for a machine that has not run them yet; the others are assumed
 * to be shorter.
 */
const LONG_MS: Durations = {
  'test/pipeline/schema/wide.test.ts': 62_000,
  'test/project/documents/examples.test.ts': 50_000,
  'test/soak/crash/crash.test.ts': 45_000,
  'test/soak/laws/laws.test.ts': 38_000,
  'test/jobs/export/exports.test.ts': 37_000,
  'test/pipeline/files/vegaFiles.test.ts': 37_000,
  'test/http/transcripts.test.ts': 36_000,
  'test/market/exchange/fill.test.ts': 35_000,
  'test/store/postgres/nodes.test.ts': 35_000,
  'test/project/documents/marketShapes.test.ts': 31_000,
  'test/soak/fuzz/licence.test.ts': 30_000,
  'test/store/postgres/nodeReads.test.ts': 29_000,
  'test/api/streams/replays.test.ts': 25_000,
  'test/store/postgres/loads.test.ts': 25_000,
  'test/market/exchange/onePrice.test.ts': 24_000,
  'test/jobs/upkeep/backup.test.ts': 22_000,
  'test/jobs/upkeep/move.test.ts': 22_000,
  'test/life/recordsLimit.test.ts': 22_000,
  'test/soak/crash/nodes/nodes.test.ts': 22_000,
  'test/pipeline/sources/s3.test.ts': 21_000,
  'test/pipeline/values/writtenNumbers.test.ts': 21_000,
  'test/life/walks/developer.test.ts': 20_000,
  'test/soak/fuzz/sqlBombs.test.ts': 20_000,
  'test/store/postgres/engine.test.ts': 20_000,
  'test/api/matrix/matrixTokens.test.ts': 19_000,
  'test/cli/cli.test.ts': 19_000,
  'test/soak/crash/nodes/cuts.test.ts': 19_000,
  'test/api/read/testValues.test.ts': 18_000,
  'test/jobs/upkeep/reingest.test.ts': 18_000,
  'test/pipeline/schema/schemaEdit.test.ts': 18_000,
  'test/pipeline/hints/printedHints.test.ts': 17_000,
  'test/query/sql/secondOpinion.test.ts': 17_000,
  'test/soak/fuzz/named.test.ts': 17_000,
  'test/market/capture/captureBook.test.ts': 16_000,
  'test/store/postgres/lending.test.ts': 16_000,
  'test/store/postgres/served.test.ts': 16_000,
  'test/api/http/slowReaders.test.ts': 15_000,
  'test/console/tour.test.ts': 15_000,
  'test/api/http/oddPlaces.test.ts': 14_000,
  'test/api/streams/awaitedDataset.test.ts': 14_000,
  'test/api/streams/storedFeed.test.ts': 14_000,
  'test/clients/iexjsMarket.test.ts': 14_000,
  'test/jobs/upkeep/upkeep.test.ts': 14_000,
  'test/life/schedules/schedules.test.ts': 14_000,
  'test/pipeline/files/jsonWays.test.ts': 14_000,
  'test/pipeline/values/writtenDates.test.ts': 14_000,
  'test/api/read/dataPoints.test.ts': 13_000,
  'test/api/read/sqlBodies.test.ts': 13_000,
  'test/pipeline/recipes/companyWalk.test.ts': 13_000,
  'test/pipeline/recipes/sec-company-facts.test.ts': 13_000,
  'test/pipeline/sources/postgres.test.ts': 13_000,
  'test/pipeline/values/codes.test.ts': 13_000,
  'test/soak/fuzz/sqlCorpus.test.ts': 13_000,
  'test/store/postgres/busNodes.test.ts': 13_000,
  'test/jobs/upkeep/purge.test.ts': 12_000,
  'test/market/inputs/vendorFiles.test.ts': 12_000,
  'test/project/bench/cluster/saturation.test.ts': 12_000,
  'test/soak/crash/postgres.test.ts': 12_000,
  'test/soak/fuzz/stalls.test.ts': 12_000,
  'test/store/bucket/bucket.test.ts': 12_000,
  'test/api/matrix/matrixPlaces.test.ts': 11_000,
  'test/cli/processes.test.ts': 11_000,
  'test/jobs/upstreams.test.ts': 11_000,
  'test/pipeline/csv/tradeFiles.test.ts': 11_000,
  'test/pipeline/schema/expectations.test.ts': 11_000,
  'test/project/architecture/architecture.test.ts': 11_000,
  'test/query/sql/slt.test.ts': 11_000,
  'test/soak/crash/nodes/quota.test.ts': 11_000,
  'test/cli/data/coreLoad.test.ts': 10_000,
  'test/console/safety.test.ts': 10_000,
  'test/console/tenMinutes.test.ts': 10_000,
  'test/jobs/writes/callerTurns.test.ts': 10_000,
  'test/life/walks/operator.test.ts': 10_000,
  'test/market/capture/captureFeed.test.ts': 10_000,
  'test/market/collections.test.ts': 10_000,
  'test/market/exchange/filling.test.ts': 10_000,
  'test/project/runner/runner.test.ts': 10_000,
  'test/query/sql/selects.test.ts': 10_000,
  'test/store/postgres/standby.test.ts': 10_000,
  'test/api/forward/forward.test.ts': 9_000,
  'test/api/matrix/matrixAccounts.test.ts': 9_000,
  'test/api/read/hostile/seriesHostile.test.ts': 9_000,
  'test/api/rules/datasetOutput.test.ts': 9_000,
  'test/api/streams/refusals.test.ts': 9_000,
  'test/cli/operate/drain.test.ts': 9_000,
  'test/clients/iexjsLoaded.test.ts': 9_000,
  'test/life/life.test.ts': 9_000,
  'test/pipeline/schema/firstLoad.test.ts': 9_000,
  'test/pipeline/targets/s3Target.test.ts': 9_000,
  'test/soak/fuzz/sqlRequests.test.ts': 9_000,
  'test/store/catalog/oldFolders.test.ts': 9_000,
  'test/store/duckdb/arrow.test.ts': 9_000,
  'test/store/lake/ours.test.ts': 9_000,
  'test/api/streams/books.test.ts': 8_000,
  'test/api/streams/restart.test.ts': 8_000,
  'test/cli/package.test.ts': 8_000,
  'test/jobs/asleep.test.ts': 8_000,
  'test/market/capture/captureReplay.test.ts': 8_000,
  'test/pipeline/contract.test.ts': 8_000,
  'test/pipeline/ingest.test.ts': 8_000,
  'test/pipeline/sources/http.test.ts': 8_000,
  'test/pipeline/values/exactTypes.test.ts': 8_000,
  'test/soak/laws/streams/streams.test.ts': 8_000,
  'test/store/ledger/ledger.test.ts': 8_000,
  'test/api/matrix/answerForms.test.ts': 7_000,
  'test/api/matrix/matrixIsolation.test.ts': 7_000,
  'test/api/read/hostile/stockHostile.test.ts': 7_000,
  'test/api/rules/hostile.test.ts': 7_000,
  'test/api/rules/rules.test.ts': 7_000,
  'test/cli/nativeLibrary.test.ts': 7_000,
  'test/clients/typed/market.test.ts': 7_000,
  'test/jobs/upkeep/reingestKill.test.ts': 7_000,
  'test/market/batch.test.ts': 7_000,
  'test/soak/fuzz/sqlTexts.test.ts': 7_000,
  'test/soak/laws/series/series.test.ts': 7_000,
};
const UNKNOWN_MS = 4_000;

/**
 * A process continues with the next file only if it is of the same project. The project with most short files
 * is last: they fill the end.
 */
const PROJECTS = ['alone', 'pure', 'servers'];

interface TestFile {
  /** From the root. */
  readonly path: string;
  readonly project: string;
}

/** The indexes of the files in the order to run them. */
export function longestFirst(files: readonly TestFile[], durations: Durations): readonly number[] {
  const places = files.map(({ path, project }, at) => ({
    at,
    ms: durations[path] ?? LONG_MS[path] ?? UNKNOWN_MS,
    project: PROJECTS.indexOf(project),
  }));
  return places
    .sort((one, other) => one.project - other.project || other.ms - one.ms || one.at - other.at)
    .map(({ at }) => at);
}
