import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { estimatesLaw } from './prices/estimatesLaw.ts';
import { conditionsLaw, selectsLaw } from './selectsLaw.ts';

const formatFailures = (failures: readonly string[]): string =>
  `\n${failures.length} failures\n${failures.slice(0, 5).join('\n\n')}`;

/** Full count: 10,000 selects, by `npm run soak sql-selects`. */
const SELECTS = 20;

test('a server answers any SELECT as DuckDB does', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, ...summary } = await selectsLaw(SELECTS, seed);
    note(t, JSON.stringify(summary));
    assert.ok(failures.length === 0, formatFailures(failures));
    assert.ok(summary.rows > SELECTS && summary.refused < SELECTS / 10, JSON.stringify(summary));
  }
});

/** Full count: 2,000 conditions, by `npm run soak sql-conditions`. */
const CONDITIONS = 10;

test('any condition partitions the rows: true, false or unknown', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, ...summary } = await conditionsLaw(CONDITIONS, seed);
    note(t, JSON.stringify(summary));
    assert.ok(failures.length === 0, formatFailures(failures));
    assert.ok(summary.parting > 0, JSON.stringify(summary));
  }
});

/** Full count: 1,000 selects, by `npm run soak sql-estimates`. */
const ESTIMATES = 6;

test('no query costs more than its estimate', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, ...summary } = await estimatesLaw(ESTIMATES, seed);
    note(t, JSON.stringify(summary));
    assert.ok(failures.length === 0, formatFailures(failures));
    assert.ok(summary.selects > 0 && summary.messages > 0, JSON.stringify(summary));
  }
});
