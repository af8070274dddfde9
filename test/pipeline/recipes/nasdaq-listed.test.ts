// The directory of Nasdaq: pipes, a last line that is no symbol, and a whole new list every day.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { countsOf, openRecipes } from './recipeRun.ts';

const HEADER =
  'Symbol|Security Name|Market Category|Test Issue|Financial Status|Round Lot Size|ETF|NextShares';
const FIRST = [
  HEADER,
  'ABCD|Abecede, Inc. - Common Stock|Q|N|N|100|N|N',
  'NULL|Nullarbor "Plain" Corp - Ordinary Shares|S|N|D|10|N|N',
  'ZTST|Tape Test Stock|G|Y|N|100||N',
  'File Creation Time: 0220202521:31|||||||',
];
const NEXT = [
  HEADER,
  'ABCD|Abecede Holdings - Common Stock|Q|N|N|100|N|N',
  'NEWS|News of Today Fund|G|N|N|1|Y|N',
  'File Creation Time: 0221202521:31|||||||',
];

test('each run is the whole list, the last line is rejected and counted', async () => {
  await using run = await openRecipes();
  run.publish(`${FIRST.join('\r\n')}\r\n`);
  await run.add('nasdaq-listed');
  const first = await run.runs('NASDAQ_LISTED');
  assert.deepEqual(countsOf(first), [3, 0, 1]);
  assert.equal(run.requests[0]?.url, '/dynamic/SymDir/nasdaqlisted.txt');
  assert.deepEqual(await run.rows('SELECT * FROM NASDAQ_LISTED ORDER BY Symbol LIMIT 2'), [
    {
      Symbol: 'ABCD',
      'Security Name': 'Abecede, Inc. - Common Stock',
      'Market Category': 'Q',
      'Test Issue': 'N',
      'Financial Status': 'N',
      'Round Lot Size': 100,
      ETF: 'N',
      NextShares: 'N',
    },
    {
      Symbol: 'NULL',
      'Security Name': 'Nullarbor "Plain" Corp - Ordinary Shares',
      'Market Category': 'S',
      'Test Issue': 'N',
      'Financial Status': 'D',
      'Round Lot Size': 10,
      ETF: 'N',
      NextShares: 'N',
    },
  ]);
  run.publish(`${NEXT.join('\r\n')}\r\n`);
  assert.deepEqual(countsOf(await run.runs('NASDAQ_LISTED')), [2, 0, 1]);
  const names = 'SELECT Symbol, `Security Name` AS n FROM NASDAQ_LISTED ORDER BY Symbol';
  assert.deepEqual(await run.rows(names), [
    { Symbol: 'ABCD', n: 'Abecede Holdings - Common Stock' },
    { Symbol: 'NEWS', n: 'News of Today Fund' },
  ]);
  assert.match(await run.rejected(first), /a symbol, not the line that ends the file/);
});

test('a file without a symbol removes nothing', async () => {
  await using run = await openRecipes();
  run.publish(FIRST.join('\n'));
  await run.add('nasdaq-listed');
  await run.runs('NASDAQ_LISTED');
  run.publish(`${HEADER}\n${FIRST.at(-1)}\n`);
  assert.notEqual((await run.runs('NASDAQ_LISTED'))['status'], 'INGESTED');
  assert.deepEqual(await run.rows('SELECT count(*) AS n FROM NASDAQ_LISTED'), [{ n: 3 }]);
});
