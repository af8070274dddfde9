// A series of FRED: its column is named by the series, and a full stop marks a missing value.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { countsOf, openRecipes } from './recipeRun.ts';

test('full stops and empty cells are null, a revision replaces, two series are two datasets', async () => {
  await using run = await openRecipes();
  run.publish(
    'observation_date,DGS10\n2025-02-13,4.52\n2025-02-14,4.47\n2025-02-17,.\n2025-02-18,\n',
  );
  await run.add('fred-series', '--set', 'series=DGS10');
  assert.deepEqual(countsOf(await run.runs('FRED_DGS10')), [4, 0, 0]);
  assert.equal(run.requests[0]?.url, '/graph/fredgraph.csv?id=DGS10');
  const query = 'SELECT * FROM FRED_DGS10 ORDER BY observation_date';
  assert.deepEqual(await run.rows(query), [
    { observation_date: '2025-02-13', DGS10: 4.52 },
    { observation_date: '2025-02-14', DGS10: 4.47 },
    { observation_date: '2025-02-17', DGS10: null },
    { observation_date: '2025-02-18', DGS10: null },
  ]);
  run.publish(
    'observation_date,DGS10\r\n2025-02-14,4.48\r\n2025-02-18,4.55\r\n2025-02-19,4.53\r\n',
  );
  assert.equal((await run.runs('FRED_DGS10'))['status'], 'INGESTED');
  assert.deepEqual(
    (await run.rows(query)).map((row) => row['DGS10']),
    [4.52, 4.48, null, 4.55, 4.53],
  );

  run.publish('observation_date,GDP\n2024-10-01,29700.58\n');
  await run.add('fred-series', '--set', 'series=GDP');
  assert.deepEqual(countsOf(await run.runs('FRED_GDP')), [1, 0, 0]);
  run.publish('observation_date,UNRATE\n2024-10-01,4.1\n');
  const other = await run.runs('FRED_GDP');
  assert.match(String(other['error']), /frozen.*UNRATE/);
});
