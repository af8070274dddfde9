// Results of vitest for a finished file, as data of the report.
import type { TestCase, TestModule, TestSuite } from 'vitest/node';
import { type Failed, type FileReport, reasonOf, type Thrown } from './report.ts';

type Results = Pick<FileReport, 'failed' | 'passed' | 'skipped'>;

/** Paths are relative to `root`; `more` are further failures of the file. */
export function resultsOf(module: TestModule, root: string, more: readonly Failed[]): Results {
  const tests = [...module.children.allTests()];
  const idle = tests.filter((test) => test.result().state === 'skipped');
  const failure = (name: string, error: Thrown): Failed => ({
    name,
    reason: reasonOf(error, root),
  });
  const failed = [
    ...[module, ...module.children.allSuites()].flatMap((suite) =>
      suite.errors().map((error) => failure(nameOf(suite), error)),
    ),
    ...tests.flatMap((test) =>
      (test.result().errors ?? []).slice(0, 1).map((error) => failure(test.fullName, error)),
    ),
    ...idle
      .filter(brokenAbove)
      .map(({ fullName }) => ({ name: fullName, reason: 'It did not run: see above.' })),
    ...more,
  ];
  const none = { name: 'the file', reason: 'The file has no tests.' };
  return {
    passed: tests.filter((test) => test.result().state === 'passed').length,
    failed: tests.length + failed.length === 0 ? [none] : failed,
    skipped: idle.filter((test) => !brokenAbove(test)).map(skippedTitle),
  };
}

/** The failure of a file whose process ended, or was killed, before the file finished. */
export function unfinished(module: TestModule): Failed {
  const tests = [...module.children.allTests()];
  const next = tests.find((test) => test.result().state === 'pending');
  const where =
    tests.length === 0 ? 'while it loads' : (next?.fullName ?? 'after its tests, in a hook');
  return { name: 'the file did not end', reason: `It crashed, or took too long: ${where}.` };
}

function skippedTitle(test: TestCase): string {
  const result = test.result();
  const why = result.state === 'skipped' ? result.note : undefined;
  return why === undefined ? test.fullName : `${test.fullName} (${why})`;
}

const nameOf = (suite: TestModule | TestSuite): string =>
  suite.type === 'module' ? 'outside of its tests' : suite.fullName;

/** True if a hook above the test failed, so that the test did not run. */
function brokenAbove(test: TestCase): boolean {
  for (let above = test.parent; ; above = above.parent) {
    if (above.errors().length > 0) return true;
    if (above.type === 'module') return false;
  }
}
