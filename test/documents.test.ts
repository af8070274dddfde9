// The documents name files that exist: a walk through the code must not lead nowhere.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const NAMED = /`((?:store|pipeline|query|jobs|api|cli|test|bench|docs|bin)\/[\w./-]*)`/g;

for (const name of readdirSync(join(ROOT, 'docs')).filter((file) => file.endsWith('.md'))) {
  test(`every path in docs/${name} is there`, () => {
    const text = readFileSync(join(ROOT, 'docs', name), 'utf8');
    const paths = [...text.matchAll(NAMED)].map((match) => match[1] ?? '');
    assert.deepEqual(
      paths.filter((path) => !existsSync(join(ROOT, path))),
      [],
    );
  });
}

test('the walk names every file of the two flows', () => {
  const text = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');
  for (const folder of ['pipeline', 'query']) {
    for (const file of readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.ts'))) {
      if (file === 'dates.ts') continue;
      assert.ok(text.includes(`${folder}/${file}`), `${folder}/${file} is not in the walk`);
    }
  }
});
