// The documents name only files that exist.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { ROOMS } from '../architecture/rooms.ts';
import { documents, ROOT, textOf } from './markdown.ts';

const NAMED = /`((?:store|pipeline|query|jobs|api|app|cli|test|bench|docs|bin)\/[\w./-]*)`/g;

for (const page of documents().filter((one) => one.startsWith('docs/'))) {
  test(`every path in ${page} exists`, () => {
    const paths = [...textOf(page).matchAll(NAMED)].map((match) => match[1] ?? '');
    assert.deepEqual(
      paths.filter((path) => !existsSync(join(ROOT, path))),
      [],
    );
  });
}

test('the picture names every module', () => {
  const text = textOf('docs/contributing/architecture.md');
  for (const [layer, rooms] of Object.entries(ROOMS)) {
    const row = text.split('\n').find((line) => line.startsWith(`| \`${layer}/\` |`)) ?? '';
    for (const room of rooms.filter((one) => one !== '.')) {
      const named = room.split('/').every((part) => row.includes(`${part}/`));
      assert.ok(named, `${layer}/${room} is not in the picture`);
    }
  }
});
