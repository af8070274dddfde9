// The longest files first, so that none of them is alone at the end.
import type { Durations } from './durations.ts';

/**
 * Of the files that take longest, about how long, for a machine that has not run them yet; the
 * others are taken for shorter.
 */
const LONG_MS: Durations = {
  'test/jobs/export/exports.test.ts': 79_000,
  'test/crash/crash.test.ts': 65_000,
  'test/laws/laws.test.ts': 58_000,
  'test/api/http/oddPlaces.test.ts': 57_000,
  'test/pipeline/wide.test.ts': 51_000,
  'test/life/schedules.test.ts': 50_000,
  'test/pipeline/sources/s3.test.ts': 48_000,
  'test/fuzz/sqlBombs.test.ts': 40_000,
  'test/fuzz/stalls.test.ts': 37_000,
  'test/jobs/backup.test.ts': 36_000,
  'test/life/recordsLimit.test.ts': 27_000,
  'test/cli/cli.test.ts': 26_000,
  'test/pipeline/vegaFiles.test.ts': 26_000,
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
