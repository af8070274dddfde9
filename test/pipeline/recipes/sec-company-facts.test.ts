// Statements of a company on every endpoint, from the SEC's data, as a new user sets it up: beside a
// directory of symbols, on a server that is full of invented companies.
import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { CONTACT } from './companyConcept.ts';
import { companyDocument, companyFactsOf, GROWING, MILLION, sheetAfter } from './companyFacts.ts';
import { countsOf, openRecipes } from './recipeRun.ts';

const ADD = [
  'sec-company-facts',
  '--set',
  'symbol=TAPE',
  '--set',
  'cik=320193',
  '--set',
  `contact=${CONTACT}`,
];
const SCHEDULES = ['INCOME', 'BALANCE_SHEET', 'CASH_FLOW', 'FINANCIALS'].map(
  (id) => `SEC facts of TAPE ${id}`,
);

type Run = Awaited<ReturnType<typeof openRecipes>>;

const runAll = async (run: Run): Promise<readonly unknown[]> => {
  const counts: unknown[] = [];
  for (const name of SCHEDULES) counts.push(countsOf(await run.runs(name, 'CORE')));
  return counts;
};

test('one recipe fills the statements of a company', async () => {
  await using run = await openRecipes();
  run.publish(companyDocument(companyFactsOf(GROWING)));
  const output = await run.add(...ADD);
  assert.match(
    output,
    /dataset INCOME .*\ndataset BALANCE_SHEET .*\ndataset CASH_FLOW .*\ndataset FINANCIALS /,
  );
  assert.match(output, /source SEC facts of TAPE is created: .*CIK0000320193\.json\n/);
  assert.deepEqual(await runAll(run), [
    [15, 0, 0],
    [15, 0, 0],
    [15, 0, 0],
    [15, 0, 0],
  ]);
  assert.deepEqual(run.requests[0], {
    url: '/api/xbrl/companyfacts/CIK0000320193.json',
    agent: CONTACT,
  });
  const { assets, debt } = sheetAfter(GROWING, 12);
  expect(await run.list('/stock/TAPE/income')).toMatchObject({
    symbol: 'TAPE',
    income: [{ fiscalDate: '2023-12-31', totalRevenue: 210 * MILLION, filingType: '10-K' }],
  });
  expect(await run.list('/stock/TAPE/income?period=annual&last=2')).toMatchObject({
    income: [{ totalRevenue: 780 * MILLION }, { fiscalYear: 2022, totalRevenue: 620 * MILLION }],
  });
  expect(await run.list('/stock/TAPE/balance-sheet')).toMatchObject({
    balancesheet: [
      { totalAssets: assets, totalLiabilities: debt, shareholderEquity: assets - debt },
    ],
  });
  expect(await run.list('/stock/TAPE/cash-flow?last=4')).toMatchObject({
    cashflow: [{ fiscalQuarter: 4 }, { fiscalQuarter: 3 }, { fiscalQuarter: 2 }, {}],
  });
  expect(await run.list('/stock/TAPE/financials')).toMatchObject({
    symbol: 'TAPE',
    financials: [
      {
        fiscalDate: '2023-12-31',
        totalRevenue: 210 * MILLION,
        netIncome: 90 * MILLION,
        totalAssets: assets,
        totalLiabilities: debt,
        operatingRevenue: 210 * MILLION,
      },
    ],
  });
  // As at every other endpoint.
  assert.equal(await run.list('/stock/TAPE/income/1/netIncome'), 90 * MILLION);
  expect(await run.list('/time-series/INCOME/TAPE/annual?last=1')).toMatchObject([
    { id: 'INCOME', key: 'TAPE', subkey: 'annual', totalRevenue: 780 * MILLION },
  ]);
  const { datasets } = (await run.list('/attribution')) as unknown as {
    readonly datasets: readonly { readonly source: string; readonly license: string }[];
  };
  assert.deepEqual(new Set(datasets.map(({ source }) => source)), new Set(['SEC EDGAR']));
  assert.match(datasets[0]?.license ?? '', /information is public/);
});

test('a new filing adds its facts, a restated fact replaces the former one', async () => {
  await using run = await openRecipes();
  run.publish(companyDocument(companyFactsOf(GROWING, 6)));
  await run.add(...ADD);
  assert.deepEqual((await runAll(run))[0], [7, 0, 0], 'six quarters and a year');
  run.publish(companyDocument(companyFactsOf(GROWING, 7)));
  await runAll(run);
  const income = (await run.list('/stock/TAPE/income?last=12')) as unknown as {
    readonly income: readonly { readonly fiscalDate: string }[];
  };
  assert.deepEqual(
    income.income.map(({ fiscalDate }) => fiscalDate),
    [
      '2022-09-30',
      '2022-06-30',
      '2022-03-31',
      '2021-12-31',
      '2021-09-30',
      '2021-06-30',
      '2021-03-31',
    ],
  );
});

test('a second company is added beside the first, the same one is not', async () => {
  await using run = await openRecipes();
  run.publish(companyDocument(companyFactsOf(GROWING, 4)));
  await run.add(...ADD);
  await runAll(run);
  await run.add(...ADD.map((word) => (word === 'symbol=TAPE' ? 'symbol=DECK.B' : word)));
  assert.deepEqual(countsOf(await run.runs('SEC facts of DECK.B INCOME', 'CORE')), [5, 0, 0]);
  expect(await run.list('/stock/DECK.B/income')).toMatchObject({ symbol: 'DECK.B' });
  const again = await run.tapedeck('recipe', 'add', ...ADD, '--base', run.base);
  assert.match(again.stderr, /there is a source of the name SEC facts of TAPE/);
  const other = await run.tapedeck('recipe', 'add', ...ADD, '--dataset', 'MINE');
  assert.match(other.stderr, /fills several \(INCOME, BALANCE_SHEET, CASH_FLOW, FINANCIALS\)/);
});

test('documents that no company has are refused with the fault, and nothing is stored', async () => {
  await using run = await openRecipes();
  await run.add(...ADD);
  const fault = async (document: string): Promise<string> => {
    run.publish(document);
    return String((await run.runs(SCHEDULES[0] ?? '', 'CORE'))['error']);
  };
  assert.match(await fault(companyDocument({})), /nothing is at \$\.facts/);
  assert.match(
    await fault(companyDocument({ 'us-gaap': { Assets: { units: {} } } })),
    /nothing is at/,
  );
  const lone = (fact: object): string =>
    companyDocument({ 'us-gaap': { NetIncomeLoss: { units: { USD: [fact] } } } });
  const whole = { end: '2023-12-31', val: 1, accn: 'a', form: '10-K', filed: '2024-02-01' };
  const { val: _, ...valueless } = whole;
  assert.match(await fault(lone(valueless)), /records have no val; each is one value with concept/);
  assert.match(await fault(lone({ ...whole, form: '8-K' })), /no period is known/);
  assert.match(await fault(lone({ ...whole, val: 'many' })), /no period is known/);
  const many = Object.fromEntries(
    Array.from({ length: 50_000 }, (_none, at) => [`Custom${at}`, { units: { USD: [whole] } }]),
  );
  assert.match(
    await fault(companyDocument({ 'us-gaap': many })),
    /no value of the us-gaap concepts/,
  );
  assert.match(await fault('<html>Undeclared Automated Tool</html>'), /HTML|page/);
});

test('values as texts are numbers, odd frames and broken ones beside them do no harm', async () => {
  await using run = await openRecipes();
  const facts = companyFactsOf(GROWING);
  for (const { units } of Object.values(facts['us-gaap'] ?? {})) {
    for (const fact of units['USD'] ?? []) {
      Object.assign(fact, { val: String(fact.val), frame: { not: 'a frame' } });
    }
  }
  const broken = [
    { end: 'soon', val: 1, accn: 'x', form: '10-K', filed: '2024-02-01' },
    { end: '2023-12-31', val: 'NaN', accn: 'x', form: '10-K', filed: '2024-02-01' },
    { start: '2023', end: '2023-12-31', val: 1, accn: 'x', form: '10-K', filed: '2024-02-01' },
    { end: '2023-12-31', val: 1, accn: null, form: '10-K', filed: '2024-02-01' },
  ];
  Object.assign(facts['us-gaap'] ?? {}, {
    OperatingExpenses: { units: { USD: broken } },
    Empty: null,
    Text: 'none',
  });
  run.publish(companyDocument(facts));
  await run.add(...ADD);
  const job = await run.runs(SCHEDULES[0] ?? '', 'CORE');
  assert.deepEqual(countsOf(job), [15, 0, 0]);
  expect(await run.list('/stock/TAPE/income')).toMatchObject({
    income: [{ totalRevenue: 210 * MILLION }],
  });
});
