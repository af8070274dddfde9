// The OpenAPI document as Python reads it: requests are made of what it declares, and what is answered is
// what it says.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { loaded } from '../client.ts';
import { test } from '../fixtures.ts';

/** Debian's own Python has the package. */
const PYTHON = '/usr/bin/python3';
const MISSING = 'this machine cannot check answers in Python: Debian has python3-jsonschema';

/** Operation, its parameters, its body. */
type Call = readonly [string, Readonly<Record<string, string | number>>, unknown?];

interface Checked {
  readonly status: number;
  readonly answer: unknown;
  readonly errors: readonly string[];
  /** Of the same answer with null in place of each value. */
  readonly errorsOfNulls: number;
}

async function python(args: readonly string[], input = ''): Promise<readonly [number, string]> {
  const child = spawn(PYTHON, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve(code ?? 1));
  });
  child.stdin.end(input);
  const [out, told, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return [code, code === 0 ? out : told];
}

test('answers are what the document says of them, by a validator of Python', async ({
  server,
  skip,
}) => {
  const [code] = await python(['-c', 'import jsonschema']).catch(() => [1] as const);
  if (code !== 0) {
    if (process.env['CI'] === 'true') assert.fail(MISSING);
    skip(MISSING);
  }
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
  const lines = calls.map((call) => JSON.stringify(call.length === 3 ? call : [...call, null]));
  const program = join(import.meta.dirname, 'openapiClient.py');
  const [status, told] = await python(
    ['-W', 'error', program, `${server.base}/v1`, server.secret],
    `${lines.join('\n')}\n`,
  );
  assert.equal(status, 0, told);
  const checked = told
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Checked);
  assert.deepEqual(
    checked.map((one) => [one.status, one.errors]),
    [
      ...Array.from({ length: 6 }, () => [200, []]),
      ...[
        [400, []],
        [404, []],
      ],
    ],
  );
  assert.ok(
    [2, 3, 4, 5].every((at) => (checked[at]?.errorsOfNulls ?? 0) > 0),
    told,
  );
  expect(checked[1]?.answer).toMatchObject([{ symbol: 'A', v: 2 }]);
  expect(checked[2]?.answer).toMatchObject([{ datasetId: 'P' }]);
});
