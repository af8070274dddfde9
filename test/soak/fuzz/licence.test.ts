// Licensed data cost what is learnt of them, and what nobody paid for tells nothing.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { exactnessLaw } from './licence/exactness.ts';
import { extractionLaw } from './licence/extraction.ts';
import { leaksLaw } from './licence/leaks.ts';
import { ruleLeaksLaw } from './licence/ruleLeaks.ts';

const isNone = (failures: readonly string[]): void =>
  assert.ok(failures.length === 0, `${failures.length}: ${failures.slice(0, 3).join('\n\n')}`);

/** Full count: 200 programs, by `npm run soak licence-programs`. */
const PROGRAMS = 3;

test('no program learns licensed records below their price', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, ...told } = await extractionLaw(PROGRAMS, seed);
    note(t, JSON.stringify(told));
    isNone(failures);
    assert.ok(told.learnt > PROGRAMS, JSON.stringify(told));
  }
});

/** Full count: 1,000 random requests beside the fixed ones, by `npm run soak licence-leaks`. */
const REQUESTS = 10;

test('an answer that is free or failed is the same whatever a licensed value is', async (t) => {
  const seeds = seedsOf(t);
  for (const [at, seed] of seeds.entries()) {
    // The same 300 again would be of another record and another value: those of each run are.
    const fixed = at === seeds.length - 1;
    const { failures, ...told } = await leaksLaw(REQUESTS, seed, fixed);
    note(t, JSON.stringify(told));
    isNone(failures);
    assert.ok(told.compared > (fixed ? 250 : 0), JSON.stringify(told));
  }
});

/** Full count: 2,000 programs, by `npm run soak licence-rules`. */
const RULE_PROGRAMS = 12;

test('rules over data of others reveal nothing below its price', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, ...told } = await ruleLeaksLaw(RULE_PROGRAMS, seed);
    note(t, JSON.stringify(told));
    isNone(failures);
  }
});

/** Full count: 1,000 queries, by `npm run soak licence-folds`. */
const QUERIES = 6;

test('under a fold every record that the answer depends on is paid', async (t) => {
  let learnt = 0;
  for (const seed of seedsOf(t)) {
    const { failures, ...told } = await exactnessLaw(QUERIES, seed);
    note(t, JSON.stringify(told));
    isNone(failures);
    learnt += told.learnt;
  }
  // Six queries of one seed may all be of records that nothing else tells.
  assert.ok(learnt > 0);
});
