// The projects of the test files, and the resources that a file leaves open.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { partedByImports } from './projects.ts';
import { moreThan } from './surplus.ts';

test('files share a process unless their own modules start threads or touch it', () => {
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

test('a file leaves open the resources that exist more often than before', () => {
  assert.deepEqual(moreThan(['a', 'b', 'a', 'c'], ['a', 'c', 'd']), ['b', 'a']);
  assert.deepEqual(moreThan([], ['a']), []);
});
