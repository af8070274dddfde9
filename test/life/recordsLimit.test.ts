// One record more than a job may have: the whole load is refused with that reason, and
// nothing of it is stored. The smallest file of that size is read in seconds.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { get, load, loaded, read } from '../base/client.ts';
import { lakePaths, startServer } from '../base/server.ts';

const RECORDS_MAX = 20_000_000;
const HEADER = 'v\n';
const LINE = '1\n';
const REFUSAL = new RegExp(`the body has ${RECORDS_MAX + 1} records, at most ${RECORDS_MAX} a job`);

test('a load of 20,000,001 records is refused by its limit, and nothing is stored', async () => {
  await using server = await startServer();
  const body = Buffer.alloc(HEADER.length + (RECORDS_MAX + 1) * LINE.length, LINE);
  body.write(HEADER);
  await loaded(server, 'KNOWN', `${HEADER}7\n`);
  const { lake } = server.tapedeck.services;
  const [files, { snapshot }] = [await lakePaths(server), lake];
  for (const dataset of ['KNOWN', 'FRESH']) {
    const refused = await load(server, dataset, body);
    const errorText = await refused.text();
    assert.equal(refused.status, 400, errorText);
    assert.match(errorText, REFUSAL, dataset);
  }
  assert.equal(await read(server, '/data/WS/KNOWN?limit=9'), '[{"v":7}]');
  assert.equal((await get(server, '/data/WS/FRESH')).status, 404);
  assert.deepEqual([await lakePaths(server), lake.snapshot], [files, snapshot]);
});
