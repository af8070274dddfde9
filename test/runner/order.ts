// The longest files first, so that none of them is alone at the end.
import type { Durations } from './durations.ts';

/**
 * Of the files that take longest, about how long, for a machine that has not run them yet; the
 * others are taken for shorter.
 */
const LONG_MS: Durations = {
  'test/laws/laws.test.ts': 60_000,
  'test/crash/crash.test.ts': 60_000,
  'test/pipeline/wide.test.ts': 56_000,
  'test/jobs/export/exports.test.ts': 49_000,
  'test/http/transcripts.test.ts': 47_000,
  'test/api/http/oddPlaces.test.ts': 46_000,
  'test/crash/nodes/cuts.test.ts': 45_000,
  'test/market/exchange/fill.test.ts': 43_000,
  'test/documents/examples.test.ts': 41_000,
  'test/pipeline/vegaFiles.test.ts': 37_000,
  'test/fuzz/licence.test.ts': 37_000,
  'test/store/postgres/nodes.test.ts': 31_000,
  'test/store/postgres/engine.test.ts': 30_000,
  'test/jobs/upkeep.test.ts': 30_000,
  'test/jobs/backup.test.ts': 29_000,
  'test/sql/selects.test.ts': 29_000,
  'test/fuzz/sqlBombs.test.ts': 29_000,
  'test/pipeline/values/writtenDates.test.ts': 28_000,
  'test/pipeline/sources/s3.test.ts': 27_000,
  'test/pipeline/values/writtenNumbers.test.ts': 27_000,
  'test/cli/cli.test.ts': 26_000,
  'test/cli/coreLoad.test.ts': 26_000,
  'test/documents/marketShapes.test.ts': 24_000,
  'test/fuzz/stalls.test.ts': 24_000,
  'test/walks/analyst.test.ts': 22_000,
  'test/life/recordsLimit.test.ts': 21_000,
  'test/api/streams/replays.test.ts': 21_000,
  'test/pipeline/jsonWays.test.ts': 21_000,
  'test/api/read/sqlBodies.test.ts': 21_000,
  'test/api/read/testValues.test.ts': 20_000,
  'test/cli/sql.test.ts': 20_000,
  'test/pipeline/sources/postgres.test.ts': 19_000,
  'test/sql/secondOpinion.test.ts': 19_000,
  'test/market/capture/captureBook.test.ts': 18_000,
  'test/store/postgres/served.test.ts': 18_000,
  'test/walks/developer.test.ts': 18_000,
  'test/console/tenMinutes.test.ts': 17_000,
  'test/cli/processes.test.ts': 17_000,
  'test/life/schedules.test.ts': 16_000,
  'test/clients/iexjsMarket.test.ts': 16_000,
  'test/fuzz/named.test.ts': 16_000,
  'test/console/tour.test.ts': 16_000,
  'test/fuzz/sqlCorpus.test.ts': 16_000,
  'test/market/capture/captureReplay.test.ts': 16_000,
  'test/jobs/move.test.ts': 15_000,
  'test/crash/postgres.test.ts': 15_000,
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
