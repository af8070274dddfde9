// The longest files first, so that none of them is alone at the end.
import type { Durations } from './durations.ts';

/**
 * Of the files that take longest, about how long, for a machine that has not run them yet; the
 * others are taken for shorter.
 */
const LONG_MS: Durations = {
  'test/crash/crash.test.ts': 83_000,
  'test/laws/laws.test.ts': 82_000,
  'test/jobs/export/exports.test.ts': 70_000,
  'test/api/http/oddPlaces.test.ts': 62_000,
  'test/pipeline/wide.test.ts': 60_000,
  'test/documents/examples.test.ts': 57_000,
  'test/http/transcripts.test.ts': 47_000,
  'test/pipeline/vegaFiles.test.ts': 45_000,
  'test/market/exchange/fill.test.ts': 45_000,
  'test/jobs/backup.test.ts': 44_000,
  'test/fuzz/licence.test.ts': 42_000,
  'test/documents/marketShapes.test.ts': 41_000,
  'test/cli/cli.test.ts': 41_000,
  'test/life/recordsLimit.test.ts': 40_000,
  'test/fuzz/stalls.test.ts': 35_000,
  'test/pipeline/values/writtenNumbers.test.ts': 35_000,
  'test/crash/nodes.test.ts': 34_000,
  'test/jobs/purge.test.ts': 34_000,
  'test/fuzz/sqlBombs.test.ts': 34_000,
  'test/jobs/upkeep.test.ts': 33_000,
  'test/pipeline/sources/s3.test.ts': 30_000,
  'test/sql/selects.test.ts': 28_000,
  'test/store/postgres/nodes.test.ts': 28_000,
  'test/crash/rules.test.ts': 24_000,
};
const UNKNOWN_MS = 10_000;

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
