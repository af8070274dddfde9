// A new user's first hour with real companies: a folder full of invented ones, a directory of symbols, the
// SEC's facts of one of them, and then the requests that a program sends about a company.
import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { CONTACT } from './companyConcept.ts';
import { companyDocument, companyFactsOf, GROWING, MILLION } from './companyFacts.ts';
import { countsOf, openRecipes } from './recipeRun.ts';

const SYMBOLS = [
  'Symbol|Security Name|Market Category|Test Issue|Financial Status|Round Lot Size|ETF|NextShares',
  'AAPL|Apple Inc. - Common Stock|Q|N|N|100|N|N',
  'APLE|Orchard Hospitality REIT, Inc.|Q|N|N|100|N|N',
  'File Creation Time: 0220202521:31|||||||',
].join('\r\n');

type JsonObject = Readonly<Record<string, unknown>>;

test('symbols and facts of a company answer the requests that programs send', async () => {
  await using run = await openRecipes({ exchange: { symbols: 4, years: 3, minuteDays: 1 } });
  const datasetOf = async (id: string): Promise<JsonObject | undefined> =>
    (await run.list('/datasets/CORE')).find(({ datasetId }) => datasetId === id);
  await run.fill();
  assert.equal((await datasetOf('INCOME'))?.['source'], 'Synthetic exchange');

  run.publish(SYMBOLS);
  await run.add('nasdaq-symbols');
  assert.deepEqual(countsOf(await run.runs('SYMBOLS', 'CORE')), [2, 0, 0]);
  run.publish(companyDocument(companyFactsOf(GROWING)));
  const set = ['symbol=AAPL', 'cik=320193', `contact=${CONTACT}`].flatMap((one) => ['--set', one]);
  await run.add('sec-company-facts', ...set);
  for (const id of ['INCOME', 'BALANCE_SHEET', 'CASH_FLOW']) {
    const job = await run.runs(`SEC facts of AAPL ${id}`, 'CORE');
    assert.deepEqual(countsOf(job), [15, 0, 0], id);
    assert.equal((await datasetOf(id))?.['records'], 15, 'the invented records are gone');
  }

  expect(await run.list('/search/apple')).toMatchObject([
    { symbol: 'AAPL', securityName: 'Apple Inc. - Common Stock', exchange: 'NAS', region: 'US' },
  ]);
  expect(await run.list('/stock/AAPL/company')).toMatchObject({
    symbol: 'AAPL',
    companyName: 'Apple Inc.',
    exchange: 'NASDAQ',
    securityName: 'Apple Inc. - Common Stock',
    country: 'US',
    sector: null,
    tags: [],
  });
  assert.equal(await run.list('/stock/AAPL/company/companyName'), 'Apple Inc.');
  expect(await run.list('/stock/AAPL/income')).toMatchObject({ symbol: 'AAPL', income: [{}] });
  const { balancesheet } = (await run.list('/stock/AAPL/balance-sheet?last=12')) as unknown as {
    readonly balancesheet: readonly Readonly<Record<string, number>>[];
  };
  assert.equal(balancesheet.length, 12);
  for (const { shareholderEquity = 0, totalAssets, totalLiabilities = 0 } of balancesheet) {
    assert.equal(totalAssets, totalLiabilities + shareholderEquity);
  }
  const types = 'company,income,balance-sheet,cash-flow';
  const batch = await run.list(
    `/stock/market/batch?symbols=AAPL,APLE&types=${types}&period=annual`,
  );
  expect(batch).toMatchObject({
    AAPL: {
      company: { companyName: 'Apple Inc.' },
      income: { income: [{ totalRevenue: 780 * MILLION }] },
      'balance-sheet': { balancesheet: [{ fiscalDate: '2023-12-31' }] },
      'cash-flow': { cashflow: [{ fiscalDate: '2023-12-31' }] },
    },
    APLE: { company: { companyName: 'Orchard Hospitality REIT, Inc.' }, income: {} },
  });
  // A company with a record of its own keeps it.
  const [invented] = await run.rows('SELECT symbol, companyName FROM CORE.COMPANY LIMIT 1');
  const own = await run.list(`/stock/${String(invented?.['symbol'])}/company`);
  expect(own).toMatchObject({ companyName: invented?.['companyName'] });
});
