// Facts of the SEC: the reports of a period decide, and a proxy statement or a wrong scale does not win.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { statementReader } from '../../../market/reports/statements.ts';
import type { XbrlFact } from '../../../store/lake/datasets/xbrlFacts.ts';
import { caseFile, coreFolder } from './coreFolder.ts';

test('a value of a proxy statement does not replace that of the annual report', async () => {
  await using core = await coreFolder();
  await core.loaded(
    caseFile('proxy-statement.json'),
    '--as',
    'INCOME',
    '--facts',
    '--symbol',
    'FCTX',
  );
  const years = (await core.get('/data/CORE/INCOME/FCTX/annual?last=9')) as readonly object[];
  const quarters = (await core.get(
    '/data/CORE/INCOME/FCTX/quarterly?last=9&sort=asc',
  )) as readonly object[];
  const of = (rows: readonly object[], name: string): readonly unknown[] =>
    rows.map((row) => Reflect.get(row, name) as unknown);
  assert.deepEqual(of(years, 'netIncome'), [319066000]);
  assert.deepEqual(of(quarters, 'netIncome'), [40000000, 45000000, 48707000, 185359000]);
  assert.deepEqual(of(years, 'totalRevenue'), [860000000]);
  assert.deepEqual(of(quarters, 'totalRevenue'), [200000000, 210000000, 220000000, 230000000]);
  assert.deepEqual(of(years, 'operatingIncome'), [258000000]);
});

const YEAR: XbrlFact = {
  concept: 'NetIncomeLoss',
  unit: 'USD',
  start: '2023-01-01',
  end: '2023-12-31',
  value: 500_000_000,
  accession: 'A',
  fiscalYear: 2023,
  fiscalPeriod: 'FY',
  form: '10-K',
  filed: '2024-02-20',
};

const netIncome = (
  ...facts: readonly Partial<XbrlFact>[]
): readonly [unknown, readonly string[]] => {
  const { notes, records } = statementReader('INCOME').buildRecords([
    YEAR,
    ...facts.map((fact) => ({ ...YEAR, ...fact })),
  ]);
  return [records.find((one) => one['fiscalDate'] === '2023-12-31')?.['netIncome'], notes];
};

test('a later annual report restates a value, unless its scale is wrong', () => {
  const next = { accession: 'B', fiscalYear: 2024, filed: '2025-02-20' };
  const third = { accession: 'C', fiscalYear: 2025, filed: '2026-02-20' };
  assert.deepEqual(netIncome({ ...next, value: 480_000_000 }), [480_000_000, []]);
  const [scaled, notes] = netIncome({ ...next, value: 500_000 });
  assert.equal(scaled, 500_000_000);
  assert.match(notes.join(), /1 values are a thousand or a million times another filing's/);
  assert.equal(netIncome({ ...next, value: 500 })[0], 500_000_000);
  // The first report is the wrong one.
  const two = [next, third].map((one) => ({ ...one, value: 500_000_000_000 }));
  assert.equal(netIncome(...two)[0], 500_000_000_000);
  const amended = { accession: 'D', form: '10-K/A', filed: '2024-03-30', value: 500_000 };
  assert.equal(netIncome(amended)[0], 500_000);
});

test('a value of another filing counts only where no periodic report has one', () => {
  const recast = { accession: 'E', form: '8-K', filed: '2024-09-01', value: 1 };
  assert.equal(netIncome(recast)[0], 500_000_000);
  assert.equal(netIncome({ ...recast, fiscalYear: null, fiscalPeriod: null })[0], 500_000_000);
  const tax = { ...recast, concept: 'IncomeTaxExpenseBenefit', value: 7 };
  const [record] = statementReader('INCOME').buildRecords([YEAR, { ...YEAR, ...tax }]).records;
  assert.equal(record?.['incomeTax'], 7);
  const proxy = { ...tax, form: 'DEF 14A', fiscalYear: null, fiscalPeriod: null };
  const [other] = statementReader('INCOME').buildRecords([YEAR, { ...YEAR, ...proxy }]).records;
  assert.equal(other?.['incomeTax'], undefined);
});

test('revenues below their part by losses are still the total', () => {
  const part = { concept: 'RevenueFromContractWithCustomerExcludingAssessedTax', value: 1_000 };
  const total = { concept: 'Revenues', value: 900 };
  const revenue = (value: number): unknown =>
    statementReader('INCOME').buildRecords([
      YEAR,
      { ...YEAR, ...part },
      { ...YEAR, ...total, value },
    ]).records[0]?.['totalRevenue'];
  assert.deepEqual([revenue(900), revenue(1_200), revenue(100)], [900, 1_200, 1_000]);
});
