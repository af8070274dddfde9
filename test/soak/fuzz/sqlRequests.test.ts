// Requests around an SQL text: bodies that are no text, parameters that are no values, formats, and earlier
// queries of another account.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { allAttacks } from './sql/attacks.ts';
import { ask, faultsOf, leakOf } from './sql/verdicts.ts';
import { openWorld, type World } from './sql/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

interface Sent {
  readonly name: string;
  readonly method?: 'GET' | 'POST';
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly type?: string;
  readonly status: number;
  readonly pattern: RegExp;
}

const bytes = (...all: readonly number[]): Uint8Array<ArrayBuffer> => Uint8Array.from(all);
const latin = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, 'latin1'));
const wide = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, 'utf16le'));
const json = (value: unknown): string => JSON.stringify(value);

const BODIES: readonly Sent[] = [
  { name: 'a text', body: 'SELECT 1 AS a', status: 200, pattern: /^\[\{"a":1\}\]$/ },
  { name: 'JSON', body: json({ query: 'SELECT 1 AS a' }), status: 200, pattern: /^\[\{"a":1\}\]$/ },
  {
    name: 'JSON with the content type of a text',
    type: 'text/plain',
    body: json({ query: 'SELECT 1 AS a' }),
    status: 200,
    pattern: /^\[\{"a":1\}\]$/,
  },
  {
    name: 'a text with the content type of JSON',
    type: 'application/json',
    body: 'SELECT 1 AS a',
    status: 200,
    pattern: /^\[\{"a":1\}\]$/,
  },
  {
    name: 'a text with the content type of a form',
    type: 'application/x-www-form-urlencoded',
    body: 'SELECT 1 AS a',
    status: 200,
    pattern: /^\[\{"a":1\}\]$/,
  },
  { name: 'a byte outside UTF-8', body: bytes(0x53, 0xff), status: 400, pattern: /success":false/ },
  { name: 'Latin 1', body: latin(`SELECT 'é' AS a`), status: 400, pattern: /success":false/ },
  { name: 'UTF-16', body: wide('SELECT 1 AS a'), status: 400, pattern: /success":false/ },
  {
    name: 'an overlong NUL',
    body: latin('SELECT 1\xc0\x80'),
    status: 400,
    pattern: /success":false/,
  },
  { name: 'no body', body: '', status: 400, pattern: /success":false/ },
  { name: 'JSON without a query', body: '{}', status: 400, pattern: /query/ },
  { name: 'a query that is a number', body: json({ query: 1 }), status: 400, pattern: /query/ },
  {
    name: 'a query that is a list',
    body: json({ query: ['SELECT 1'] }),
    status: 400,
    pattern: /query/,
  },
  { name: 'null', body: 'null', status: 400, pattern: /success":false/ },
  { name: 'a list', body: '[]', status: 400, pattern: /success":false/ },
  {
    name: 'JSON that ends early',
    body: '{"query":"SELECT 1"',
    status: 400,
    pattern: /success":false/,
  },
  {
    name: 'an unknown member',
    body: json({ query: 'SELECT 1', x: 1 }),
    status: 400,
    pattern: /x/,
  },
  {
    name: 'parameters that are a list',
    body: json({ query: 'SELECT 1', parameters: [1] }),
    status: 400,
    pattern: /parameters/,
  },
  {
    name: 'a parameter whose name is no name',
    body: json({ query: 'SELECT 1', parameters: { 'a b': 1 } }),
    status: 400,
    pattern: /parameters/,
  },
  {
    name: 'a parameter named like the prototype of objects',
    body: '{"query":"SELECT :__proto__ AS a","parameters":{"__proto__":1}}',
    status: 200,
    pattern: /^\[\{"a":1\}\]$/,
  },
  {
    name: '101 parameters',
    body: json({
      query: 'SELECT 1',
      parameters: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`p${at}`, at])),
    }),
    status: 400,
    pattern: /parameters/,
  },
  { name: 'no query at all', method: 'GET', status: 400, pattern: /sqlQuery/ },
  {
    name: 'a callback that is more than a name',
    method: 'GET',
    query: { sqlQuery: 'SELECT 1 AS a', callback: 'alert(1);a' },
    status: 400,
    pattern: /callback/,
  },
  {
    name: 'a callback and a text that ends a script',
    method: 'GET',
    query: { sqlQuery: `SELECT '</script>\u2028' AS a`, callback: 'f' },
    status: 200,
    pattern: /^[^]*f\(\[\{"a":"[^]*"\}\]\)/,
  },
  {
    name: 'an unknown format',
    method: 'GET',
    query: { sqlQuery: 'SELECT 1 AS a', format: 'exe' },
    status: 400,
    pattern: /format/,
  },
  {
    name: 'an unknown parameter',
    method: 'GET',
    query: { sqlQuery: 'SELECT 1 AS a', workspace: 'OTHER' },
    status: 400,
    pattern: /workspace/,
  },
];

describe('bodies and queries of every kind are read as a text, or refused with a sentence', () => {
  for (const { name, method = 'POST', query = {}, body, type, status, pattern } of BODIES) {
    test(name, async () => {
      const { base, publishable, folder } = world.server;
      const all = new URLSearchParams({ token: publishable, ...query });
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      const init = method === 'GET' ? {} : { method, body: body ?? '', headers };
      const answer = await fetch(`${base}/v1/sql-query/WS?${all}`, init);
      const text = await answer.text();
      assert.equal(answer.status, status, text);
      assert.match(text, pattern);
      assert.ok(!text.includes(folder), text);
    });
  }
});

/** A value of each type that a query can return. */
const VALUES = [
  'true',
  '1',
  `1::TINYINT`,
  `1::SMALLINT`,
  `1::INTEGER`,
  `1::BIGINT`,
  `1::HUGEINT`,
  '1::UTINYINT',
  '1::USMALLINT',
  '1::UINTEGER',
  '1::UBIGINT',
  '18446744073709551615',
  '1.5',
  '1.5::REAL',
  '1.5::DOUBLE',
  '0.1234567890123456789',
  `'nan'::DOUBLE`,
  `'inf'::DOUBLE`,
  `'a'`,
  `''`,
  'NULL',
  'NULL::DATE',
  `DATE '2024-02-29'`,
  `DATE '0001-01-01'`,
  `'infinity'::DATE`,
  `TIMESTAMP '2024-02-29 12:00:00.000001'`,
  `'-infinity'::TIMESTAMP`,
  `TIME '12:00:00'`,
  `TIMESTAMP '294247-01-10 04:00:54.775806'`,
  `DATE '5881580-07-10'`,
  `DATE '5877642-06-25 (BC)'`,
  `'2024-01-01 00:00:00+02'::TIMESTAMPTZ`,
  'INTERVAL 1 DAY',
  `'{"a":1}'::JSON`,
  `'[NaN]'::JSON`,
  `'[1,2,]'::JSON`,
  `' 1 '::JSON`,
  `'"\u2028"'::JSON`,
  '-0.0::DOUBLE',
  `'x' || chr(0)`,
  'sum(1)',
  'avg(1)',
  'count(*)',
  'sum(1.5)',
  'max(true)',
  `sum('1'::HUGEINT)`,
  `median(1)`,
] as const;
const FORMATS = ['json', 'jsonl', 'csv', 'psv', 'arrow', 'parquet'] as const;

test('a value of any type is returned in every format, or refused', async () => {
  const faults: string[] = [];
  for (const value of VALUES) {
    const sql = `SELECT ${value} AS a`;
    for (const format of FORMATS) {
      const request = { asker: 'owner', parameters: undefined, sql, workspace: 'WS' } as const;
      const answer = await ask(world, request, 'text', { format });
      const { body, status } = answer;
      const leak =
        format === 'arrow' || format === 'parquet' ? undefined : leakOf(world, request, answer);
      if (status !== 200 && status !== 400) faults.push(`${format} of ${sql}: ${status} ${body}`);
      else if (leak !== undefined) faults.push(`${format} of ${sql}: ${leak}`);
      else if (status === 200 && format.startsWith('json') && !isJson(body)) {
        faults.push(`${format} of ${sql} is not JSON: ${body.slice(0, 200)}`);
      }
    }
  }
  assert.ok(faults.length === 0, `\n${faults.length} faults\n${faults.join('\n')}`);
});

function isJson(body: string): boolean {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

const FREE = [{ schema: 'true' }, { explain: 'true' }, { estimate: 'true' }] as const;

test('free answers reveal nothing that the caller may not read', async () => {
  const faults: string[] = [];
  const attacks = allAttacks().filter(({ expected }) =>
    expected.every(({ kind }) => kind === 'missing' || kind === 'forbidden'),
  );
  assert.ok(attacks.length > 60);
  for (const query of FREE) {
    for (const attack of attacks) {
      const answer = await ask(world, attack, 'json', query);
      const label = `${attack.name} with ${JSON.stringify(query)}: ${answer.status}`;
      const leak = leakOf(world, attack, answer);
      if (leak !== undefined) faults.push(`${label}: ${leak}`);
      else if (![400, 401].includes(answer.status)) faults.push(`${label} ${answer.body}`);
    }
  }
  assert.ok(faults.length === 0, `\n${faults.length} faults\n${faults.join('\n')}`);
});

test('cached answers of the other account are not returned', async () => {
  const faults: string[] = [];
  const { server, stranger } = world;
  const attacks = allAttacks().filter(({ expected }) =>
    expected.some(({ kind }) => kind === 'missing'),
  );
  let answered = 0;
  for (const attack of attacks) {
    const url = `${server.base}/v1/sql-query/OTHER?token=${stranger}`;
    const first = await fetch(url, { method: 'POST', body: JSON.stringify({ query: attack.sql }) });
    await first.text();
    if (first.status === 200) answered += 1;
    faults.push(...(await faultsOf(world, attack)));
    const tag = first.headers.get('etag');
    if (tag === null) continue;
    const again = await fetch(
      `${server.base}/v1/sql-query/WS?${new URLSearchParams({ token: server.publishable })}`,
      {
        method: 'POST',
        body: JSON.stringify({ query: attack.sql }),
        headers: { 'if-none-match': tag },
      },
    );
    if (again.status !== 400) faults.push(`${attack.name} with the other's tag: ${again.status}`);
  }
  assert.ok(answered > 30, `only ${answered} were answered to their owner`);
  assert.ok(faults.length === 0, `\n${faults.length} faults\n${faults.join('\n')}`);
});
