// The documents name files that exist: a walk through the code must not lead nowhere.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { ROOMS } from '../house/rooms.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const NAMED = /`((?:store|pipeline|query|jobs|api|app|cli|test|bench|docs|bin)\/[\w./-]*)`/g;

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

test('the picture names every room', () => {
  const text = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');
  for (const [layer, rooms] of Object.entries(ROOMS)) {
    const row = text.split('\n').find((line) => line.startsWith(`| \`${layer}/\` |`)) ?? '';
    for (const room of rooms.filter((one) => one !== '.')) {
      const named = room.split('/').every((part) => row.includes(`${part}/`));
      assert.ok(named, `${layer}/${room} is not in the picture`);
    }
  }
});
