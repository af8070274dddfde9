// The coverage table is correct: every transcript and test it names exists.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { COVERAGE } from '../../../docs/pages/coverage.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** Minimum of served rows: the table only grows. */
const SERVED_LEAST = 233;

test('every row names an existing transcript or test, or is marked later', () => {
  const wrong = COVERAGE.filter(({ proof }) => !isThere(proof)).map(
    ({ row, proof }) => `${row}: ${proof}`,
  );
  assert.deepEqual(wrong, []);
  assert.equal(isThere('read#no such block'), false);
});

test('the table only grows', () => {
  const served = COVERAGE.filter(({ proof }) => proof !== 'later').length;
  assert.ok(served >= SERVED_LEAST, `${served} rows are served, ${SERVED_LEAST} were before`);
  const names = COVERAGE.map(({ section, row }) => `${section}: ${row}`);
  assert.equal(new Set(names).size, names.length);
});

function isThere(proof: string): boolean {
  if (proof === 'later') return true;
  const [file = '', title] = proof.split('#');
  if (title === undefined) return existsSync(join(ROOT, file));
  const paths = globSync(join(ROOT, 'test', 'http', 'cases', '*', `${file}.http`));
  assert.equal(paths.length, 1, `${file}.http must be there once`);
  return readFileSync(paths[0] ?? '', 'utf8')
    .split('\n')
    .includes(`### ${title}`);
}
