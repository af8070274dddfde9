// The yield curve of the US Treasury: quoted names, empty cells, months before days, a file each year.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { countsOf, openRecipes } from './recipeRun.ts';

const MONTHS = ['1 Mo', '1.5 Month', '2 Mo', '3 Mo', '4 Mo', '6 Mo'];
const YEARS = ['1 Yr', '2 Yr', '3 Yr', '5 Yr', '7 Yr', '10 Yr', '20 Yr', '30 Yr'];
const HEADER = ['Date', ...[...MONTHS, ...YEARS].map((name) => `"${name}"`)].join();
const REST = '4.01,4.02,4.03,4.04,4.05,4.06,4.07,4.08,4.09,4.10,4.11';
const FIRST = [HEADER, `02/18/2025,3.91,3.95,4.00,${REST}`, `02/14/2025,3.90,,3.99,${REST}`];
const NEXT = [HEADER, `02/19/2025,3.92,3.96,4.00,${REST}`, `02/18/2025,3.95,3.95,4.00,${REST}`];

test('a year grows, a rate is corrected, other years have other maturities', async () => {
  await using run = await openRecipes();
  run.publish(`${FIRST.join('\n')}\n`);
  const output = await run.add('us-treasury-yields');
  assert.match(
    output,
    /^dataset US_TREASURY_YIELDS is created: 15 properties\nsource .*\nschedule .*\n$/,
  );
  assert.deepEqual(countsOf(await run.runs('US_TREASURY_YIELDS')), [2, 0, 0]);
  const query = 'SELECT Date, `1 Mo` AS a, `1.5 Month` AS b, `30 Yr` AS z FROM US_TREASURY_YIELDS';
  assert.deepEqual(await run.rows(`${query} ORDER BY Date`), [
    { Date: '2025-02-14', a: 3.9, b: null, z: 4.11 },
    { Date: '2025-02-18', a: 3.91, b: 3.95, z: 4.11 },
  ]);
  const path =
    '/resource-center/data-chart-center/interest-rates/daily-treasury-rates.csv/2025/all';
  const requestQuery = 'type=daily_treasury_yield_curve&field_tdr_date_value=2025&page&_format=csv';
  assert.equal(run.requests[0]?.url, `${path}?${requestQuery}`);

  run.publish(`${[...NEXT, FIRST[2]].join('\n')}\n`);
  assert.equal((await run.runs('US_TREASURY_YIELDS'))['status'], 'INGESTED');
  assert.deepEqual(await run.rows(`${query} ORDER BY Date`), [
    { Date: '2025-02-14', a: 3.9, b: null, z: 4.11 },
    { Date: '2025-02-18', a: 3.95, b: 3.95, z: 4.11 },
    { Date: '2025-02-19', a: 3.92, b: 3.96, z: 4.11 },
  ]);

  run.live('2026-02-20');
  run.publish(
    'Date,"1 Mo","30 Yr","50 Yr"\r\n02/19/2026,3.50,4.60,4.75\r\n02/18/2026,N/A,4.61,\r\n',
  );
  assert.deepEqual(countsOf(await run.runs('US_TREASURY_YIELDS')), [2, 0, 0]);
  assert.match(run.requests.at(-1)?.url ?? '', /\/2026\/all\?.*date_value=2026&/);
  const grown = 'SELECT Date, `1 Mo` AS a, `50 Yr` AS y FROM US_TREASURY_YIELDS ORDER BY Date';
  assert.deepEqual((await run.rows(grown)).slice(2), [
    { Date: '2025-02-19', a: 3.92, y: null },
    { Date: '2026-02-18', a: null, y: null },
    { Date: '2026-02-19', a: 3.5, y: 4.75 },
  ]);
});

test('another year is added to the same dataset, from its first days on', async () => {
  await using run = await openRecipes();
  const year = ['--set', 'year=2023', '--name', 'YIELDS_2023', '--dataset', 'US_TREASURY_YIELDS'];
  await run.add('us-treasury-yields');
  assert.match(await run.add('us-treasury-yields', ...year), /US_TREASURY_YIELDS exists already/);
  run.publish('Date,"1 Mo"\n01/03/2023,4.10\n');
  const early = await run.runs('YIELDS_2023');
  assert.deepEqual(countsOf(early), [1, 0, 0], 'the 3rd of January, not the 1st of March');
  run.publish('Date,"1 Mo"\n01/13/2023,4.20\n01/03/2023,4.10\n');
  assert.deepEqual(countsOf(await run.runs('YIELDS_2023')), [1, 1, 0]);
  assert.match(run.requests.at(-1)?.url ?? '', /\/2023\/all\?/);
  const rows = await run.rows('SELECT Date FROM US_TREASURY_YIELDS ORDER BY Date');
  assert.deepEqual(rows, [{ Date: '2023-01-03' }, { Date: '2023-01-13' }]);
});
