// `tapedeck recipe add`: its output, that it creates all or nothing, and its refusals.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { openRecipes } from './recipeRun.ts';

test('a dry run creates nothing, a step that fails removes what was created', async () => {
  await using run = await openRecipes();
  const add = ['recipe', 'add', 'fred-series', '--set', 'series=UNRATE'];
  const countResources = async (): Promise<readonly number[]> => {
    const kinds = ['/datasets/WS', '/data-sources/WS', '/ingestion-schedules/WS'];
    return (await Promise.all(kinds.map(run.list))).map(({ length }) => length);
  };
  const dry = await run.tapedeck(...add, '--dry-run');
  assert.equal(
    dry.stdout,
    'dataset FRED_UNRATE would be created: 2 properties\n' +
      'source FRED_UNRATE would be created: https://fred.stlouisfed.org/graph/fredgraph.csv?id=UNRATE\n' +
      'schedule FRED_UNRATE would be created: now, then 15 22 * * * in UTC; ' +
      'corrected records replace stored ones\n',
  );
  const preview = JSON.parse((await run.tapedeck(...add, '--dry-run', '--json')).stdout) as object;
  assert.deepEqual(Object.keys(preview), [
    'datasetId',
    'dataset',
    'source',
    'schedule',
    'isNewDataset',
  ]);
  assert.deepEqual(await countResources(), [0, 0, 0]);

  // The source's name is too long for the server, which has created the dataset by then.
  const failed = await run.tapedeck(...add, '--name', 'n'.repeat(201));
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /^tapedeck: name must .*\(dataset FRED_UNRATE was removed\)\n$/);
  assert.deepEqual(await countResources(), [0, 0, 0]);

  const json = JSON.parse(await run.add(...add.slice(2), '--json')) as Record<string, unknown>;
  assert.deepEqual([json['datasetId'], json['isNewDataset']], ['FRED_UNRATE', true]);
  assert.match(String(json['dataSourceId']), /^DATA_SOURCE_/);
  assert.match(String(json['ingestionScheduleId']), /^INGESTION_SCHEDULE_/);
  assert.deepEqual(await countResources(), [1, 1, 1]);
  const again = await run.tapedeck(...add);
  assert.deepEqual([again.code, again.stdout], [1, '']);
  assert.match(
    again.stderr,
    /there is a source of the name FRED_UNRATE: set another one with --name/,
  );
});

test('errors name the recipe, the parameter or the dataset', async () => {
  await using run = await openRecipes();
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { code, stderr, stdout } = await run.tapedeck('recipe', ...args);
    assert.deepEqual([code, stdout], [1, '']);
    return stderr;
  };
  assert.match(await refused('show', 'gold'), /there is no recipe gold: tapedeck recipe list/);
  assert.match(await refused('add', 'fred-series'), /parameter series must be set/);
  const escape = ['add', 'fred-series', '--set', 'series=../../DGS10'];
  assert.match(
    await refused(...escape),
    /parameter series must be at most 200 characters that fit/,
  );
  await run.add('other-listed');
  const other = ['add', 'fred-series', '--set', 'series=GDP', '--dataset', 'other_listed'];
  assert.match(await refused(...other), /other_listed exists and has another index/);
  const result = await run.tapedeck('recipe', 'show', 'nasdaq-listed');
  assert.match(result.stdout, /^nasdaq-listed: Symbols[^]*It has no parameters\.[^]*replaces all/);
});
