// Names of members that become properties: a path that collects them, and its special cases.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { load, loaded, read } from '../base/client.ts';
import { startServer, type TestServer } from '../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const FACTS = '$.facts.{taxonomy}.{concept}.units.{unit}[*]';
const document = (facts: object): string => JSON.stringify({ cik: 1, name: 'x', facts });

test('each name on the way is a property of the records below it', async () => {
  const body = document({
    gaap: {
      Assets: { label: null, units: { USD: [{ end: '2024-12-31', val: 10 }], EUR: [] } },
      'E"P\nS': { units: { 'USD/shares': [{ end: '2024-12-31', val: 1.5 }] } },
      None: { units: {} },
      Bare: {},
      Odd: { units: null },
    },
    dei: [],
  });
  const mapping = { key: 'concept', date: 'end', jsonPath: FACTS };
  const { recordsIngested } = await loaded(server, 'KEYED', body, mapping);
  assert.equal(recordsIngested, 2);
  const expectedRecord =
    '{"taxonomy":"gaap","concept":"Assets","unit":"USD","end":"2024-12-31","val":10}';
  assert.equal(await read(server, '/data/WS/KEYED/Assets'), `[${expectedRecord}]`);
  assert.match(await read(server, '/data/WS/KEYED?limit=9'), /"E\\"P\\nS","unit":"USD\/shares"/);
});

test('members may be the records themselves', async () => {
  const body = JSON.stringify({
    0: { ticker: 'AAA', cik: 1 },
    1: { ticker: 'BBB', cik: 2 },
    2: {},
  });
  const mapping = { key: 'ticker', jsonPath: '$.{row}' };
  const { recordsIngested, recordsInvalid } = await loaded(server, 'ROWS', body, mapping);
  assert.deepEqual([recordsIngested, recordsInvalid], [2, 1], 'a record without the key');
  assert.equal(await read(server, '/data/WS/ROWS/BBB'), '[{"row":"1","ticker":"BBB","cik":2}]');
});

test('values that are no objects are rejected with their place', async () => {
  const body = document({
    a: { A: { units: { u: [{ end: '2024-01-01', val: 1 }, 3, null, []] } } },
  });
  const columnMapping = { key: 'concept', date: 'end', jsonPath: FACTS };
  const { recordsIngested, recordsInvalid } = await loaded(server, 'MIXED', body, columnMapping);
  assert.deepEqual([recordsIngested, recordsInvalid], [1, 3]);
});

test('paths without a value, names in use and misspelled steps are reported', async () => {
  const fault = async (body: string, jsonPath: string): Promise<string> =>
    (await load(server, 'FAULT', body, { jsonPath })).text();
  assert.match(await fault(document({}), FACTS), /nothing is at \$\.facts\.\{taxonomy\}/);
  assert.match(await fault(document({ a: { A: { units: {} } } }), FACTS), /nothing is at/);
  const conflictingBody = document({ a: { A: { units: { u: [{ unit: 'x', val: 1 }] } } } });
  assert.match(
    await fault(conflictingBody, FACTS),
    /have a member unit already; pass jsonPath=\$\.facts\S*\.units\.\{unit_\}\[\*\] /,
  );
  assert.match(await fault('[1]', '$.{a}.{a}'), /must not give one name to two steps/);
  assert.match(
    await fault('[1]', '$.{a b}'),
    /must be \$ with steps \.name, \.\{name\} and \[\*\]/,
  );
});

test('fifty thousand names are records, long ones that would fill a disk are refused', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, at) => [
      `C${at}`,
      { units: { USD: [{ end: '2024-01-01', val: at }] } },
    ]),
  );
  const columnMapping = { key: 'concept', date: 'end', jsonPath: FACTS };
  assert.equal(
    (await loaded(server, 'MANY', document({ a: many }), columnMapping)).recordsIngested,
    50_000,
  );
  const long = {
    ['x'.repeat(20_000)]: { units: { u: Array.from({ length: 60_000 }, () => ({})) } },
  };
  const refused = await load(server, 'LONG', document({ a: long }), { jsonPath: FACTS });
  assert.match(await refused.text(), /its names with each record are over 1073741824 bytes/);
});
