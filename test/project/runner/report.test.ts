// The lines of a run, and the order and the processes of its files.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { keepDuration, readDurations } from './durations.ts';
import { partedByImports } from './projects.ts';
import { type FileReport, linesOf, reasonOf, summary } from './report.ts';
import { longestFirst } from './order.ts';
import { moreThan } from './surplus.ts';

const FINE: FileReport = {
  file: 'test/a.test.ts',
  passed: 2,
  failed: [],
  skipped: [],
  notes: [],
  ms: 1_260,
};
const BROKEN: FileReport = {
  ...FINE,
  file: 'test/b.test.ts',
  failed: [{ name: 'suite > sum', reason: 'Error: 1 is not 2\n    at test/b.test.ts:7:1' }],
  skipped: ['later', 'there (no server)'],
  notes: ['seeds 1, 2\n', 'two\nlines'],
};

describe('the report', () => {
  test('a file has its counts and seconds, notes, skipped tests and failures in full', () => {
    assert.deepEqual(linesOf(FINE), ['✔ test/a.test.ts  2 passed, 0 failed  1.3 s']);
    assert.equal(
      linesOf(BROKEN).join('\n'),
      `✖ test/b.test.ts  2 passed, 1 failed, 2 skipped  1.3 s
    seeds 1, 2
    two
    lines
  - skipped: later
  - skipped: there (no server)
  ✖ suite > sum
      Error: 1 is not 2
          at test/b.test.ts:7:1`,
    );
  });

  test('a run ends in its counts', () => {
    const { lines, ok } = summary([FINE, BROKEN], [], 61_000);
    assert.equal(ok, false);
    assert.deepEqual(lines, [
      '',
      '✖ test/b.test.ts  suite > sum\n      Error: 1 is not 2\n          at test/b.test.ts:7:1',
      '2 files, 61.0 s',
      '4 passed, 1 failed, 2 skipped',
    ]);
    assert.deepEqual(summary([FINE], [], 0), {
      lines: ['', '1 files, 0.0 s', '2 passed, 0 failed'],
      ok: true,
    });
  });

  test('failures outside of every test are counted', () => {
    const { lines, ok } = summary([FINE], [{ name: 'outside', reason: 'Error: gone' }], 0);
    assert.equal(ok, false);
    assert.deepEqual(lines.slice(0, 2), ['', '✖ outside\n      Error: gone']);
    assert.equal(lines.at(-1), '2 passed, 1 failed');
  });

  test('a run without any test is not a success', () => {
    const { lines, ok } = summary([], [], 0);
    assert.equal(ok, false);
    assert.ok(lines.includes('No test ran.'));
    assert.equal(summary([{ ...FINE, passed: 0, skipped: ['a'] }], [], 0).ok, false);
  });

  test('an error has its message, its own lines from the root, and its causes', () => {
    const error = {
      message: 'no\nanswer',
      stack: [
        'Error: no\nanswer',
        '    at request (file:///srv/project/test/a.test.ts?vitest=123:4:5)',
        '    at other (/srv/project/store/b.ts:1:2)',
        '    at run (file:///srv/project/node_modules/vitest/dist/a.js:1:1)',
        '    at process (node:internal/process:1:1)',
      ].join('\n'),
      cause: { name: 'TypeError', message: 'gone' },
    };
    assert.equal(
      reasonOf(error, '/srv/project'),
      `Error: no
answer
    at request (test/a.test.ts:4:5)
    at other (store/b.ts:1:2)
caused by TypeError: gone`,
    );
  });
});

describe('files of tests', () => {
  test('that took longest run first; of unknown files a few are known to be long', () => {
    const long = 'test/soak/laws/laws.test.ts';
    const files = ['test/a.test.ts', 'test/b.test.ts', long, 'test/c.test.ts'].map((path) => ({
      path,
      project: 'servers',
    }));
    const durations = { 'test/b.test.ts': 20_000, 'test/c.test.ts': 5 };
    assert.deepEqual(longestFirst(files, durations), [2, 1, 0, 3]);
    assert.deepEqual(longestFirst(files, { ...durations, [long]: 1 }), [1, 0, 3, 2]);
    const mixed = files.map(({ path }, at) => ({ path, project: at % 2 === 0 ? 'pure' : 'alone' }));
    assert.deepEqual(longestFirst(mixed, durations), [1, 3, 2, 0]);
  });

  test('have recorded durations, and a broken record is ignored', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tapedeck-durations-'));
    const path = join(folder, 'durations.json');
    try {
      assert.deepEqual(readDurations(path), {});
      keepDuration('a', 12.6, path);
      keepDuration('b', 3, path);
      keepDuration('a', 14, path);
      assert.deepEqual(readDurations(path), { a: 14, b: 3 });
      for (const text of ['{"a":', '{"a":"1"}', 'null']) {
        await writeFile(path, text);
        assert.deepEqual(readDurations(path), {}, text);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('share a process unless their own modules start threads or touch it', () => {
    const texts: Readonly<Record<string, string>> = {
      'test/pure.test.ts': `import { test } from 'vitest';\nimport { a } from '../store/a.ts';\n`,
      'test/types.test.ts': `import type { B } from '../store/b.ts';\n`,
      'test/far.test.ts': `import { a } from '../store/a.ts';\nimport {\n  c,\n} from './c.ts';\n`,
      'test/late.test.ts': `const b = await import('../store/b.ts');\n`,
      'test/again.test.ts': `export { b } from '../store/b.ts';\n`,
      'test/spawns.test.ts': `import { spawn } from 'node:child_process';\n`,
      'test/helped.test.ts': `import { start } from './starts.ts';\n`,
      'test/env.test.ts': `process.env['A'] = 'b';\n`,
      'test/reads.test.ts': `if (process.env['A'] === 'b') throw new Error();\n`,
      'test/signals.test.ts': `process.on('SIGINT', () => undefined);\n`,
      'test/hears.test.ts': `process.on('unhandledRejection', () => undefined);\n`,
      'test/starts.ts': `import { Worker } from 'node:worker_threads';\n`,
      'test/c.ts': `import '../store/b.ts';\n`,
      'store/a.ts': `import { a } from './a.ts';\nimport { join } from 'node:path';\n`,
      'store/b.ts': `import { createServer } from 'node:http';\nimport '../store/child.ts';\n`,
      'store/child.ts': `import { fork } from 'node:child_process';\n`,
    };
    const files = Object.keys(texts).filter((file) => file.endsWith('.test.ts'));
    const { alone, pure, servers } = partedByImports(files, (path) => texts[path] ?? '');
    const named = (names: readonly string[]): readonly string[] =>
      names.map((name) => `test/${name}.test.ts`);
    assert.deepEqual(pure, named(['pure', 'types', 'reads', 'hears']));
    assert.deepEqual(servers, named(['far', 'late', 'again', 'spawns']));
    assert.deepEqual(alone, named(['helped', 'env', 'signals']));
  });

  test('leave open the resources that exist more often than before', () => {
    assert.deepEqual(moreThan(['a', 'b', 'a', 'c'], ['a', 'c', 'd']), ['b', 'a']);
    assert.deepEqual(moreThan([], ['a']), []);
  });
});
