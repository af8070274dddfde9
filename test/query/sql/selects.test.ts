import assert from 'node:assert/strict';
import { test } from 'vitest';
import { note } from '../../base/notes.ts';
import { seedsOf } from '../../base/seeds.ts';
import { estimatesLaw } from './prices/estimatesLaw.ts';
import { conditionsLaw, selectsLaw } from './selectsLaw.ts';

const shown = (failures: readonly string[]): string =>
  `\n${failures.length} failures\n${failures.slice(0, 5).join('\n\n')}`;

/** Full count: 10,000 selects, by `npm run soak sql-selects`. */
const SELECTS = 40;

test('a server answers any SELECT as DuckDB does', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, ...told } = await selectsLaw(SELECTS, seed);
    note(t, JSON.stringify(told));
    assert.ok(failures.length === 0, shown(failures));
    assert.ok(told.rows > SELECTS && told.refused < SELECTS / 10, JSON.stringify(told));
  }
});

/** Full count: 2,000 conditions, by `npm run soak sql-conditions`. */
const CONDITIONS = 20;

test('any condition parts the rows: it holds, it does not, or nobody knows', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, ...told } = await conditionsLaw(CONDITIONS, seed);
    note(t, JSON.stringify(told));
    assert.ok(failures.length === 0, shown(failures));
    assert.ok(told.parting > 0, JSON.stringify(told));
  }
});

/** Full count: 1,000 selects, by `npm run soak sql-estimates`. */
const ESTIMATES = 10;

test('no query costs more than was told before', async (t) => {
  for (const seed of seedsOf(t)) {
    const { failures, ...told } = await estimatesLaw(ESTIMATES, seed);
    note(t, JSON.stringify(told));
    assert.ok(failures.length === 0, shown(failures));
    assert.ok(told.selects > 0 && told.messages > 0, JSON.stringify(told));
  }
});
