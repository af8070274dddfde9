// A company's values of a span of time: many filings contain one period, and one filing reports
// several periods with the same end.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { CONTACT, conceptOf, type Fact } from './companyConcept.ts';
import { countsOf, openRecipes } from './recipeRun.ts';

const QUARTER = '0001234-24-000020';
const fact = (start: string, end: string, val: number, more: Partial<Fact> = {}): Fact => ({
  start,
  end,
  val,
  accn: QUARTER,
  fy: 2024,
  fp: 'Q2',
  form: '10-Q',
  filed: '2024-07-30',
  ...more,
});
const FACTS = [
  fact('2024-01-01', '2024-03-31', 100, { accn: '0001234-24-000010', fp: 'Q1' }),
  fact('2024-01-01', '2024-06-30', 250),
  fact('2024-04-01', '2024-06-30', 150, { frame: 'CY2024Q2' }),
  fact('2023-04-01', '2023-06-30', 120),
];
const ADD = ['sec-company-concept', '--set', 'cik=1234', '--set', 'concept=Revenues'];

test('spans with the same end are separate records, and so are a later and an older filing', async () => {
  await using run = await openRecipes();
  run.publish(conceptOf('Revenues', FACTS));
  await run.add(...ADD, '--set', `contact=${CONTACT}`);
  assert.deepEqual(countsOf(await run.runs('SEC_0000001234_Revenues')), [4, 0, 0]);
  assert.deepEqual(run.requests[0], {
    url: '/api/xbrl/companyconcept/CIK0000001234/us-gaap/Revenues.json',
    agent: CONTACT,
  });
  const later = fact('2023-04-01', '2023-06-30', 121, {
    accn: '0001234-25-000004',
    fy: null,
    fp: null,
    form: '10-K/A',
    filed: '2025-02-20',
  });
  const corrected = FACTS.map((one) => (one.frame === undefined ? one : { ...one, val: 151 }));
  run.publish(conceptOf('Revenues', [...corrected, later]));
  assert.equal((await run.runs('SEC_0000001234_Revenues'))['status'], 'INGESTED');
  const table = 'SEC_0000001234_Revenues';
  const query = `SELECT start, \`end\`, val, filed FROM ${table} ORDER BY \`end\`, start, filed`;
  assert.deepEqual(await run.rows(query), [
    { start: '2023-04-01', end: '2023-06-30', val: 120, filed: '2024-07-30' },
    { start: '2023-04-01', end: '2023-06-30', val: 121, filed: '2025-02-20' },
    { start: '2024-01-01', end: '2024-03-31', val: 100, filed: '2024-07-30' },
    { start: '2024-01-01', end: '2024-06-30', val: 250, filed: '2024-07-30' },
    { start: '2024-04-01', end: '2024-06-30', val: 151, filed: '2024-07-30' },
  ]);
});

test('a concept about a day ends in ERROR, another unit is another list', async () => {
  await using run = await openRecipes();
  await run.add(...ADD, '--set', `contact=${CONTACT}`, '--set', 'unit=EUR');
  run.publish(conceptOf('Revenues', FACTS, 'EUR'));
  assert.deepEqual(countsOf(await run.runs('SEC_0000001234_Revenues')), [4, 0, 0]);
  const days = FACTS.map(({ start: _, ...rest }) => rest);
  run.publish(conceptOf('Revenues', days, 'EUR'));
  const job = await run.runs('SEC_0000001234_Revenues');
  assert.match(String(job['error']), /required property 'start'/);
});
