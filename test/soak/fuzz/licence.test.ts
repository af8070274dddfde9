// Callers pay for all licensed data that they learn, and unpaid answers reveal none.
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
    const { failures, ...figures } = await extractionLaw(PROGRAMS, seed);
    note(t, JSON.stringify(figures));
    isNone(failures);
    assert.ok(figures.learnt > PROGRAMS, JSON.stringify(figures));
  }
});

/** Full count: 1,000 random requests beside the fixed ones, by `npm run soak licence-leaks`. */
const REQUESTS = 10;

test('an answer that is free or failed does not depend on a licensed value', async (t) => {
  const seeds = seedsOf(t);
  for (const [at, seed] of seeds.entries()) {
    // The 300 fixed requests run for one seed only: each run has another record and another value.
    const fixed = at === seeds.length - 1;
    const { failures, ...figures } = await leaksLaw(REQUESTS, seed, fixed);
    note(t, JSON.stringify(figures));
    isNone(failures);
    assert.ok(figures.compared > (fixed ? 250 : 0), JSON.stringify(figures));
  }
});

/** Full count: 2,000 programs, by `npm run soak licence-rules`. */
const RULE_PROGRAMS = 6;

test('rules over licensed data reveal nothing below its price', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, ...figures } = await ruleLeaksLaw(RULE_PROGRAMS, seed);
    note(t, JSON.stringify(figures));
    isNone(failures);
  }
});

/** Full count: 1,000 queries, by `npm run soak licence-folds`. */
const QUERIES = 3;

test('an aggregate charges every record that the answer depends on', async (t) => {
  let learnt = 0;
  for (const seed of seedsOf(t)) {
    const { failures, ...figures } = await exactnessLaw(QUERIES, seed);
    note(t, JSON.stringify(figures));
    isNone(failures);
    learnt += figures.learnt;
  }
  // The queries of a fresh seed may all learn nothing, those of the fixed one learn records.
  assert.ok(learnt > 0);
});
