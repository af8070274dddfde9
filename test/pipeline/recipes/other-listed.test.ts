// The directory of the other exchanges: symbols with dots and dollars, and a last line that is none.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { countsOf, openRecipes } from './recipeRun.ts';

const HEADER =
  'ACT Symbol|Security Name|Exchange|CQS Symbol|ETF|Round Lot Size|Test Issue|NASDAQ Symbol';

test('each run is the whole list, with the symbols of shares of all kinds', async () => {
  await using run = await openRecipes();
  const lines = [
    HEADER,
    'AB$C|Abacus 5.5% Preferred|N|ABpC|N|100|N|AB-C',
    'BRX.A|Brixham Class A|N|BRX.A|N|1|N|BRX.A',
    'CBZT|Tape Test|Z|CBZT|N|100|Y|CBZT',
    'SPQ|Spqr Trust|P|SPQ|Y|100|N|SPQ',
    'File Creation Time: 0220202521:31||||||',
  ];
  run.publish(`${lines.join('\r\n')}\r\n`);
  await run.add('other-listed');
  const first = await run.runs('OTHER_LISTED');
  assert.deepEqual(countsOf(first), [4, 0, 1], 'for any number of pipes');
  assert.equal(run.requests[0]?.url, '/dynamic/SymDir/otherlisted.txt');
  const query =
    'SELECT `ACT Symbol` AS s, `Exchange` AS e, `Round Lot Size` AS lot FROM OTHER_LISTED';
  assert.deepEqual(await run.rows(`${query} ORDER BY s`), [
    { s: 'AB$C', e: 'N', lot: 100 },
    { s: 'BRX.A', e: 'N', lot: 1 },
    { s: 'CBZT', e: 'Z', lot: 100 },
    { s: 'SPQ', e: 'P', lot: 100 },
  ]);
  const remainingLines = [HEADER, lines[4], 'File Creation Time: 0221202521:31|||||||'];
  run.publish(`${remainingLines.join('\r\n')}\r\n`);
  assert.deepEqual(countsOf(await run.runs('OTHER_LISTED')), [1, 0, 1]);
  assert.deepEqual(await run.rows(query), [{ s: 'SPQ', e: 'P', lot: 100 }]);
});
