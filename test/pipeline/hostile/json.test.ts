// JSON is read strictly: invalid JSON is refused with its place, or rejected with its line, anywhere in a
// file.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { findJob, findRejects } from '../../../store/work/jobs.ts';
import { JsonFault, JsonText, describePosition } from '../../../pipeline/decode/json/jsonText.ts';
import { load, loaded, read } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** A text, and where and why it is no JSON. */
const FAULTS: readonly (readonly [string, string])[] = [
  ['{"k":0,}', 'line 1, column 7: a comma before }'],
  ['[{"k":[1,]}]', 'line 1, column 9: a comma before ]'],
  ['[{"k":1},]', 'line 1, column 9: a comma before ]'],
  ['{"k":NaN}', 'line 1, column 6: NaN, which is no JSON value'],
  ['[{"k":-Infinity}]', 'line 1, column 7: -Infinity, which is no JSON value'],
  ['{"k":1,"k":2}', 'line 1, column 8: member "k" for the second time'],
  ['{"a":{"k":1,"\\u006b":2}}', 'line 1, column 13: member "k" for the second time'],
  ["[{'k':1}]", `line 1, column 3: "'" where a name in double quotes must be`],
  ['[{k:1}]', 'line 1, column 3: "k" where a name in double quotes must be'],
  ['{"k":1} x', 'line 1, column 9: x, which is no JSON value'],
  ['[{"k":1}] x', 'line 1, column 11: "x" behind the end of the document'],
  ['[{"k":1}][{"k":2}]', 'line 1, column 10: "[" behind the end of the document'],
  ['[{"k":1}', 'line 1, column 9: the end where a comma or ] must be'],
  ['[{"k":1}{"k":2}]', 'line 1, column 9: "{" where a comma or ] must be'],
  ['[{"k":1},,{"k":2}]', 'line 1, column 10: "," where a value must be'],
  ['[{"k":"é","l":tru}]', 'line 1, column 15: tru, which is no JSON value'],
  ['[\n {"k":1},\n {"k":1 // no\n}]', 'line 3, column 9: a comment where a comma or } must be'],
  ['[{"k":"a\tb"}]', 'line 1, column 9: a control character (0x09) in a text'],
  ['[{"k":"\\ud800"}]', 'line 1, column 8: \\ud800 in a text, which is half of a pair'],
  ['[{"k":"\\x"}]', 'line 1, column 8: "\\\\x" in a text, which is no escape'],
  ['[{"k":"x}]', 'line 1, column 7: a text without its closing quote'],
  ['[{"k":012}]', 'line 1, column 7: a number that begins with 0'],
  ['[{"k":+1}]', 'line 1, column 7: "+" where a value must be'],
  ['[{"k":.5}]', 'line 1, column 7: "." where a value must be'],
  ['[{"k":1.}]', 'line 1, column 7: a number without a digit after its point'],
  ['[{"k":1e}]', 'line 1, column 7: a number without a digit in its exponent'],
  ['[{"k":1 "l":2}]', 'line 1, column 9: "\\"" where a comma or } must be'],
  ['[{"k" 1}]', 'line 1, column 7: "1" where a colon must be'],
  [`${'[{"k":'.repeat(1_100)}1${'}]'.repeat(1_100)}`, 'objects and lists over 1000 deep'],
];

for (const [text, expected] of FAULTS) {
  test(`refused: ${text.slice(0, 40)}`, async () => {
    const answer = await load(server, 'FAULTY', text);
    const { message } = JSON.parse(await answer.text()) as { readonly message: string };
    assert.equal(answer.status, 400, message);
    assert.ok(message.includes('the body is not readable JSON: '), message);
    assert.ok(message.includes(expected), message);
  });
}

const record = (at: number, more = ''): string => `{"k":"K${at}","v":${at}${more}}`;

/** More than the sample, so that only a check of the whole file finds a fault. */
const MANY = 6_000;

test('a fault in the middle of a long list has its place', async () => {
  for (const [more, expected] of [
    [',', 'a comma before }'],
    [',"v":2', 'member "v" for the second time'],
    [',"w":[1,]', 'a comma before ]'],
    [',"w":tru', 'tru, which is no JSON value'],
  ] as const) {
    const records = Array.from({ length: MANY }, (_, at) => record(at, at === 5_000 ? more : ''));
    const answer = await load(server, 'LONG', `[${records.join(',\n')}]`);
    const text = await answer.text();
    assert.equal(answer.status, 400, text);
    assert.match(text, /not readable JSON: line 5001, column \d+: /);
    assert.ok(text.replaceAll('\\"', '"').includes(expected), text);
  }
});

const rejects = async (jobId: string): Promise<readonly string[]> =>
  (await findRejects(server.tapedeck.services.database, jobId)).map(
    ({ error, line }) => `${line}: ${error}`,
  );

for (const length of [6, MANY]) {
  test(`faulty lines of ${length} are rejected with line and column, the others load`, async () => {
    const lines = Array.from({ length }, (_, at) => record(at));
    lines[1] = record(1, ',');
    lines[3] = '{k:4}';
    lines[4] = record(4, ',"v":5');
    const id = `LINES${length}`;
    const job = await loaded(server, id, `\uFEFF${lines.join('\n')}\n`, { key: 'k' });
    assert.deepEqual([job.recordsIngested, job.recordsInvalid], [length - 3, 3]);
    assert.deepEqual(await rejects(job.jobId), [
      '2: validation failed: should be JSON; line 2, column 16: a comma before }',
      '4: validation failed: should be JSON; line 4, column 2: "k" where a name in double quotes must be',
      '5: validation failed: should be JSON; line 5, column 17: member "v" for the second time',
    ]);
    assert.equal(await read(server, `/data/WS/${id}/K0`), '[{"k":"K0","v":0}]');
  });
}

test('NaN beside other values is null, and the notes name the line', async () => {
  const job = await loaded(server, 'NONE', '[{"a":1,"b":NaN},{"a":2,"b":Infinity}]');
  assert.equal(await read(server, '/data/WS/NONE?limit=9'), '[{"a":1,"b":null},{"a":2,"b":null}]');
  const notes = (await findJob(server.tapedeck.services.database, job.jobId))?.notes_json ?? '';
  assert.match(notes, /2 values such as NaN in line 1, column 13 are no JSON: read as null/);
});

test('texts that look like faults are texts', async () => {
  const text = '{"k":"a, ] , } [NaN :nan ,inf","v":1}';
  const lines = Array.from({ length: MANY }, (_, at) => (at === 5_000 ? text : record(at)));
  const job = await loaded(server, 'LOOKS', lines.join('\n'), { key: 'k' });
  assert.deepEqual([job.recordsIngested, job.recordsInvalid], [MANY, 0]);
});

test('a scan agrees with JSON.parse, except for a repeated member and half of a surrogate pair', () => {
  for (const text of [
    '{}',
    '[]',
    '""',
    '0',
    '-0.0e+7',
    'null',
    ' [1 , {"a" : [ ] } ] ',
    '1 2',
    '',
  ]) {
    assert.equal(isStrict(text), isParsed(text), text);
  }
});

function isStrict(text: string): boolean {
  const json = new JsonText(Buffer.from(text));
  try {
    json.scanValue();
    return json.peek() === undefined && json.nonNumbers === 0;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    assert.match(describePosition(json.bytes, error.at), /^line 1, column \d+$/);
    return false;
  }
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
