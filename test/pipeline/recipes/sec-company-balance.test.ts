// A company's values of a day: each filing reports its own day, and the day a year before too.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { CONTACT, conceptOf, type Fact } from './companyConcept.ts';
import { countsOf, openRecipes } from './recipeRun.ts';

const fact = (end: string, val: number, filed: string, more: Partial<Fact> = {}): Fact => ({
  end,
  val,
  accn: `0001234-${filed.slice(2, 4)}-000001`,
  fy: 2024,
  fp: 'FY',
  form: '10-K',
  filed,
  ...more,
});
const FACTS = [
  fact('2022-12-31', 900, '2024-02-20'),
  fact('2023-12-31', 1_000_000_000_001, '2024-02-20', { frame: 'CY2023Q4I' }),
];
const NAME = 'SEC_0000001234_Assets';

test('days in several filings, a corrected one, and none twice', async () => {
  await using run = await openRecipes();
  const set = ['cik=0000001234', 'concept=Assets', `contact=${CONTACT}`];
  run.publish(conceptOf('Assets', FACTS));
  await run.add('sec-company-balance', ...set.flatMap((one) => ['--set', one]));
  assert.deepEqual(countsOf(await run.runs(NAME)), [2, 0, 0]);
  assert.equal(run.requests[0]?.agent, CONTACT);
  const more = [fact('2023-12-31', 1001, '2025-02-20'), fact('2024-12-31', 1200.5, '2025-02-20')];
  run.publish(conceptOf('Assets', [{ ...fact('2022-12-31', 901, '2024-02-20') }, ...more]));
  assert.equal((await run.runs(NAME))['status'], 'INGESTED');
  const query = `SELECT \`end\`, val, filed, frame FROM ${NAME} ORDER BY \`end\`, filed`;
  assert.deepEqual(await run.rows(query), [
    { end: '2022-12-31', val: 901, filed: '2024-02-20', frame: null },
    { end: '2023-12-31', val: 1_000_000_000_001, filed: '2024-02-20', frame: 'CY2023Q4I' },
    { end: '2023-12-31', val: 1001, filed: '2025-02-20', frame: null },
    { end: '2024-12-31', val: 1200.5, filed: '2025-02-20', frame: null },
  ]);
  run.publish(conceptOf('Assets', [fact('2024-12-31', 7, '2025-02-20', { start: '2024-01-01' })]));
  const span = await run.runs(NAME);
  assert.match(String(span['error']), /frozen.*start/, 'spans would share one index value');
});
