// The directory of Nasdaq as an input of the market: searched, listed and credited immediately.
import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { countsOf, openRecipes } from './recipeRun.ts';

const FILE = [
  'Symbol|Security Name|Market Category|Test Issue|Financial Status|Round Lot Size|ETF|NextShares',
  'ABCD|Abecede, Inc. - Common Stock|Q|N|N|100|N|N',
  'NULL|Nullarbor "Plain" Corp - Ordinary Shares|S|N|D|10|N|N',
  'File Creation Time: 0220202521:31|||||||',
].join('\r\n');

test('symbols are found by search, listed, and returned with their license', async () => {
  await using run = await openRecipes();
  run.publish(`${FILE}\r\n`);
  const output = await run.add('nasdaq-symbols');
  assert.match(output, /dataset SYMBOLS/);
  assert.deepEqual(countsOf(await run.runs('SYMBOLS', 'CORE')), [2, 0, 0]);
  expect(await run.list('/search/nullarbor')).toMatchObject([{ symbol: 'NULL', region: 'US' }]);
  expect(await run.list('/ref-data/symbols')).toMatchObject([
    { symbol: 'ABCD', exchange: 'NAS', isEnabled: true },
    { symbol: 'NULL', name: 'Nullarbor "Plain" Corp - Ordinary Shares' },
  ]);
  const { datasets } = (await run.list('/attribution')) as unknown as {
    readonly datasets: readonly { readonly source: string; readonly license: string }[];
  };
  expect(datasets).toMatchObject([{ source: 'Nasdaq Trader symbol directory' }]);
  expect(datasets[0]?.license).toMatch(/terms of use of nasdaqtrader.com apply/);
  // The next day a name has changed.
  run.publish(FILE.replace('Abecede, Inc.', 'Abecede Holdings'));
  await run.runs('SYMBOLS', 'CORE');
  expect(await run.list('/search/holdings')).toMatchObject([{ symbol: 'ABCD' }]);
});
