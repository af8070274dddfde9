// Numbers of JSON with more digits than a double: a load and a push read them as CSV is read. Nothing is
// rounded.
import { expect } from 'vitest';
import { load, loaded, read } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import type { TestServer } from '../../base/server.ts';
import { typeOf } from './written.ts';

async function push(
  server: TestServer,
  id: string,
  body: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const url = `${server.base}/v1/record/WS/${id}?wait=true&token=${server.secret}`;
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', body, headers });
  return { status: answer.status, text: await answer.text() };
}

/** Numbers that no double represents. */
const ROUNDED = [
  '9007199254740993',
  '123456789012345678901',
  '0.1234567890123456789',
  '12345678901234567.5',
  '1234567890.1234567891',
  '0.1234567890123456789e5',
  '1e-400',
  '1e+400',
];
/** Long numbers whose double has the same digits. */
const EXACT = ['0.12345678901234568', '9007199254740992', '-0.30000000000000004', '1e300'];

test('are rejected by an existing number, in loads and pushes', async ({ server }) => {
  await loaded(server, 'T', 'k,v\na,1.5\n', { key: 'k' });
  for (const digits of ROUNDED) {
    const record = `{"k":"p","v":${digits}}`;
    expect([digits, (await push(server, 'T', `[${record}]`)).text]).toEqual([
      digits,
      expect.stringContaining(`property 'v' should be number, not`),
    ]);
    const valid = '{"k":"a","v":1.5}';
    const bodies = [`[${valid},${record}]`, `${valid}\n${record}\n`, `k,v\na,1.5\np,${digits}\n`];
    for (const body of bodies) {
      const job = await loaded(server, 'T', body);
      expect([body, job.recordsInvalid]).toEqual([body, 1]);
    }
  }
  expect(await read(server, '/data/WS/T?limit=9')).toBe('[{"k":"a","v":1.5}]');
});

test('are stored where a double has the same digits', async ({ server }) => {
  await loaded(server, 'T', 'k,v\na,1.5\n', { key: 'k' });
  await loaded(server, 'L', 'k,v\na,1.5\n', { key: 'k' });
  const records = EXACT.map((digits, at) => `{"k":"k${at}","v":${digits}}`);
  for (const record of records)
    expect(await push(server, 'T', record)).toMatchObject({ status: 200 });
  await loaded(server, 'L', records.join('\n'));
  for (const id of ['T', 'L']) {
    const rows = JSON.parse(await read(server, `/data/WS/${id}?limit=9`)) as readonly {
      readonly k: string;
      readonly v: number;
    }[];
    const values = rows
      .filter(({ k }) => k !== 'a')
      .toSorted((one, other) => (one.k < other.k ? -1 : 1));
    expect(values.map(({ v }) => v)).toEqual(EXACT.map(Number));
  }
});

test('make a new property a string, beside other numbers and objects', async ({ server }) => {
  for (const [at, digits] of ROUNDED.entries()) {
    const lines = [
      `{"k":"a","v":1.5}`,
      `{"k":"b","v":${digits},"o":{"x":1.25,"y":["1.5"]},"s":"{"}`,
    ];
    const bodies = { LINES: `${lines.join('\n')}\n`, LIST: `[${lines.join(',')}]` };
    for (const [name, body] of Object.entries(bodies)) {
      const id = `${name}_${at}`;
      await loaded(server, id, body, { key: 'k' });
      expect([id, typeOf(server, id)]).toEqual([id, 'string']);
      const rows = JSON.parse(await read(server, `/data/WS/${id}/b`)) as readonly object[];
      expect(rows).toEqual([{ k: 'b', v: digits, o: { x: 1.25, y: ['1.5'] }, s: '{' }]);
    }
  }
});

test('are found in files of any size, in the sample and below', async ({ server }) => {
  const line = (at: number, v: string): string =>
    `{"k":"r${String(at).padStart(6, '0')}","v":${v}}`;
  for (const [at, row] of [5, 11_000].entries()) {
    for (const plain of ['1.5', '0.30000000000000004']) {
      const id = `BIG_${at}_${plain.length}`;
      const lines = Array.from({ length: 12_000 }, (_, n) => line(n, plain));
      await loaded(server, id, lines.join('\n'), { key: 'k' });
      expect([id, typeOf(server, id)]).toEqual([id, 'number']);
      lines[row] = line(row, row === 5 ? '9007199254740993' : '0.1234567890123456789');
      const job = await loaded(server, id, lines.join('\n'));
      expect([id, job.recordsInvalid]).toEqual([id, 1]);
      await loaded(server, `${id}_NEW`, lines.join('\n'), { key: 'k' });
      expect([id, typeOf(server, `${id}_NEW`)]).toEqual([id, 'string']);
    }
  }
});

test('of the first push make a string', async ({ server }) => {
  const { status, text } = await push(server, 'P', '[{"a":0.1234567890123456789}]');
  expect([status, text]).toEqual([200, expect.any(String)]);
  expect(await read(server, '/data/WS/P?limit=9')).toBe('[{"a":"0.1234567890123456789"}]');
  expect((await load(server, 'P', '[{"a":"x"}]')).status).toBe(200);
});

test('a record of many members keeps the digits of a number', async ({ server }) => {
  const names = Array.from({ length: 80 }, (_, at) => `m${at}`);
  const record = (value: string): string =>
    `{${names.map((name) => `"${name}":${name === 'm7' ? value : 1.5}`).join(',')}}`;
  await loaded(server, 'MANY', record('2.5'));
  const answer = await load(server, 'MANY', record('0.1234567890123456789'));
  expect([answer.status, await answer.text()]).toEqual([
    400,
    expect.stringContaining(`property 'm7' should be number`),
  ]);
});

const LONG = '0.1234567890123456789';
const NESTED_NOTE = 'within objects and lists, such as';

test('within objects and lists become texts, and the answer counts them', async ({ server }) => {
  const nested = `{"k":"a","o":{"x":${LONG},"y":[1.5,{"z":-1.2345678901234567890e5}]}}`;
  const stored = { k: 'a', o: { x: LONG, y: [1.5, { z: '-1.2345678901234567890e5' }] } };
  const bodies = {
    LINES: `${nested}\n{"k":"b","o":{"x":1.5}}\n`,
    LIST: `[{"k":"b","o":{"x":1.5}},${nested}]`,
    TABLE: `{"columns":["k","o"],"data":[["b",{"x":1.5}],["a",${nested.slice(13, -1)}]]}`,
  };
  for (const [id, body] of Object.entries(bodies)) {
    const job = await loaded(server, id, body, { key: 'k' });
    expect([id, job.notes.join()]).toEqual([
      id,
      expect.stringContaining(`2 numbers ${NESTED_NOTE}`),
    ]);
    expect([id, JSON.parse(await read(server, `/data/WS/${id}/a`))]).toEqual([id, [stored]]);
  }
  await loaded(server, 'COLUMNS', `{"k":["b","a"],"v":[1.5,${LONG}]}`, { key: 'k' });
  expect(JSON.parse(await read(server, '/data/WS/COLUMNS/a'))).toEqual([{ k: 'a', v: LONG }]);
  const answer = await push(server, 'LINES', `[${nested.replace('"a"', '"p"')}]`);
  expect(answer.text).toContain(`2 numbers ${NESTED_NOTE} ${LONG} in line 1, column 20`);
  expect(JSON.parse(await read(server, '/data/WS/LINES/p'))).toEqual([{ ...stored, k: 'p' }]);
});

test('within objects are found in files of any size', async ({ server }) => {
  for (const row of [5, 11_000]) {
    const lines = Array.from({ length: 12_000 }, (_, n) => {
      const x = n === row ? LONG : '0.30000000000000004';
      return `{"k":"r${n}","t":"1.${'1'.repeat(20)}","o":{"x":${x}}}`;
    });
    const id = `BIG_${row}`;
    const job = await loaded(server, id, lines.join('\n'), { key: 'k' });
    const note = `1 numbers ${NESTED_NOTE} ${LONG} in line ${row + 1}, column `;
    expect(job.notes.join()).toContain(note);
    const rows = JSON.parse(await read(server, `/data/WS/${id}/r${row}`)) as readonly object[];
    expect(rows).toEqual([{ k: `r${row}`, t: `1.${'1'.repeat(20)}`, o: { x: LONG } }]);
  }
});

test('of a record of many members keep their digits beside objects', async ({ server }) => {
  const names = Array.from({ length: 80 }, (_, at) => `m${at}`);
  const members = names.map((name) => `"${name}":${name === 'm7' ? LONG : 1.5}`);
  await loaded(server, 'WIDE', `{"o":{"x":${LONG}},${members.join(',')}}`);
  const [row] = JSON.parse(await read(server, '/data/WS/WIDE?limit=9')) as readonly object[];
  expect(row).toMatchObject({ o: { x: LONG }, m7: LONG, m8: 1.5 });
});
