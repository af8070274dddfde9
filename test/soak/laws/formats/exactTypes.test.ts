// Values of every type in and out, a few schemas; `npm run soak exact-types` runs the full count.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { seedsOf } from '../../../base/seeds.ts';
import { exactTypesLaw } from './exactTypes.ts';

/** Full count: 1,000 schemas. */
const SCHEMAS = 4;

test('law: a value of any type is returned digit for digit, in and out by any format', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures } = await exactTypesLaw(SCHEMAS, seed);
    assert.deepEqual(failures, []);
  }
});
