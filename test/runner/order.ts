// The longest files first, so that none of them is alone at the end.
import type { Durations } from './durations.ts';

/**
 * Of the files that take longest, about how long, for a machine that has not run them yet; the
 * others are taken for shorter.
 */
const LONG_MS: Durations = {
  'test/laws/laws.test.ts': 101_000,
  'test/crash/crash.test.ts': 75_000,
  'test/jobs/export/exports.test.ts': 61_000,
  'test/pipeline/wide.test.ts': 48_000,
  'test/jobs/backup.test.ts': 43_000,
  'test/fuzz/sqlBombs.test.ts': 41_000,
  'test/cli/cli.test.ts': 40_000,
  'test/cli/sql.test.ts': 39_000,
  'test/http/transcripts.test.ts': 37_000,
  'test/fuzz/licence.test.ts': 34_000,
  'test/pipeline/sources/s3.test.ts': 30_000,
  'test/cli/sources.test.ts': 30_000,
  'test/api/http/oddPlaces.test.ts': 29_000,
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
