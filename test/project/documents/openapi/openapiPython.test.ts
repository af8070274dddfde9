// The OpenAPI document as Python reads it: requests are made from its declarations, and answers match its
// schemas.
import assert from 'node:assert/strict';
import { expect } from 'vitest';
import { loaded } from '../../../base/client.ts';
import { test } from '../../../base/fixtures.ts';
import { type Call, checkedByPython, needsPython } from './openapiPython.ts';

test('answers match the document, checked by a Python validator', async ({ server, skip }) => {
  await needsPython(skip);
  const roles = { key: 'symbol', date: 'date' };
  await loaded(server, 'P', 'symbol,date,v\nA,2024-01-01,1\nA,2024-01-02,2\n', roles);
  const calls: readonly Call[] = [
    [
      'writeRecord',
      { workspace: 'WS', id: 'P', wait: 'true' },
      [{ symbol: 'B', date: '2024-01-03', v: 3 }],
    ],
    ['getTimeSeriesByKey', { id: 'P', key: 'A', last: 1 }],
    ['listDatasets', { workspace: 'WS' }],
    ['getDataset', { workspace: 'WS', id: 'P' }],
    ['getAccountMetadata', {}],
    ['listJobs', { workspace: 'WS', type: 'ingest' }],
    ['getTimeSeriesByKey', { id: 'P', key: 'A', last: -1 }],
    ['getDataset', { workspace: 'WS', id: 'NONE' }],
  ];
  const checked = await checkedByPython(server, calls);
  assert.deepEqual(
    checked.map((one) => [one.status, one.errors]),
    [...Array.from({ length: 6 }, () => [200, []]), [400, []], [404, []]],
  );
  assert.ok(
    [2, 3, 4, 5].every((at) => (checked[at]?.errorsOfNulls ?? 0) > 0),
    JSON.stringify(checked),
  );
  expect(checked[1]?.answer).toMatchObject([{ symbol: 'A', v: 2 }]);
  expect(checked[2]?.answer).toMatchObject([{ datasetId: 'P' }]);
});
