// Bad input at both series endpoints: every parameter, unknown names, keys and subkeys. An illegal
// value is refused with a sentence that names it; nothing fails, hangs, or is echoed in a header.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { Parameter } from '../../../../reads/request/parameters.ts';
import { CHARTED_SERIES_PARAMETERS } from '../../../../reads/series/queryParameters.ts';
import { loaded } from '../../../base/client.ts';
import { HOSTILE_TEXTS } from '../../../soak/fuzz/http/hostile.ts';
import { startServer, type TestServer } from '../../../base/server.ts';

const DEADLINE_MS = 60_000;
const AT_ONCE = 8;
const TEXTS = [...new Set(HOSTILE_TEXTS.map((text) => text.toWellFormed()))];
const DOORS = ['/data/WS/BARS/AAPL', '/time-series/BARS/AAPL'] as const;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  const bars = 'symbol,date,close,size\nAAPL,2024-01-02,1.5,1\nAAPL,2024-01-03,2.5,2\n';
  await loaded(server, 'BARS', bars, { key: 'symbol', date: 'date' });
  await loaded(server, 'CODES', 'code,date,v\n7,2024-01-02,1\n', { key: 'code', date: 'date' });
});
afterAll(() => server.close());

async function ask(path: string, query: string): Promise<Answer> {
  const url = `${server.base}/v1${path}?${query}&token=${server.publishable}`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(DEADLINE_MS) });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

async function askAll<T>(items: readonly T[], one: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const work = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await one(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Statuses that a legal value may cause, besides 200. */
const ALSO: Readonly<Record<string, readonly number[]>> = {
  // A missing version; a price that is too high.
  asOf: [404],
  maxMessages: [402],
};

function judge(name: string, { headers, status, text }: Answer, value: string): void {
  const context = `${name}=${JSON.stringify(value.slice(0, 80))}: ${status} ${text.slice(0, 300)}`;
  assert.equal(headers.get('x-injected'), null, context);
  if (status === 200 || ALSO[name]?.includes(status) === true) return;
  assert.equal(status, 400, context);
  const { error } = JSON.parse(text) as { readonly error: string };
  // The error for a missing version has no quotation marks.
  assert.ok(error.includes(name === 'asOf' ? name : `"${name}"`), context);
  assert.ok(error.length < 600, context);
}

/** Invalid values for every parameter of a kind. */
const WRONG: Readonly<Record<Parameter['kind'], readonly string[]>> = {
  integer: [
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '+1',
    ' 1',
    '1 ',
    '٣',
    '１',
    'NaN',
    'Infinity',
    'one',
    'null',
    '9'.repeat(16),
    '9'.repeat(4e3),
    '1,2',
    "1' OR '1'='1",
    '1\0',
    'true',
    '[1]',
  ],
  day: [
    '2024-02-30',
    '2023-02-29',
    '2024-13-01',
    '2024-00-01',
    '2024-1-1',
    '20241301',
    'today',
    '2024-01-01T00:00:00Z',
    '24-01-01',
    '12024-01-01',
    '-2024-01-01',
    '٢٠٢٤-٠١-٠١',
    'null',
    '2024-01-01\0',
    '2024-01-01\n',
    ' 2024-01-01',
    "2024-01-01'--",
    '1704067200000',
  ],
  boolean: ['yes', 'no', 'on', '2', '-1', 'TRUE ', 't', 'null', 'undefined', "true'--", '[]'],
  choice: ['descending', 'asc ', 'asc,desc', "asc'; --", 'null', '0', 'JSON5', 'ａｓｃ', '[asc]'],
  list: [],
  text: [],
};

describe('a wrong value is refused with the name of its parameter', () => {
  for (const { kind, name } of CHARTED_SERIES_PARAMETERS) {
    test(name, async () => {
      await askAll([...WRONG[kind], 'repeated', ''], async (value) => {
        for (const door of DOORS) {
          const pair = `${name}=${encodeURIComponent(value)}`;
          const query = value === 'repeated' ? `${name}=1&${name}=1` : pair;
          const answer = await ask(door, query);
          assert.equal(answer.status, 400, `${query.slice(0, 100)}: ${answer.text}`);
          judge(name, answer, value);
        }
      });
    });
  }
});

describe('for any value, the answer has its records or names it', () => {
  for (const { name } of CHARTED_SERIES_PARAMETERS) {
    test(name, async () => {
      await askAll(TEXTS, async (text) => {
        const [one, other] = DOORS;
        const query = `${name}=${encodeURIComponent(text)}`;
        judge(name, await ask(one, `range=max&${query}`.replace('range=max&range', 'range')), text);
        if (text.length < 50) judge(name, await ask(other, query), text);
      });
    });
  }
});

const UNKNOWN = [
  'Range',
  'LIMIT',
  'limits',
  'limit[]',
  'limit[0]',
  'limit.x',
  'where',
  'order',
  'transforms',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '__proto__[a]',
  '$ne',
  'range ',
  ' range',
  'rаnge',
  'limit\0',
  "limit' OR 1=1",
  'a\r\nX-Injected: 1',
  '🎈',
  'z'.repeat(64),
  'Token',
  'key',
  'subkey',
  'id',
  'workspace',
  'select',
  ';',
  '"',
  '\\',
];

test('an unknown parameter is refused with its name', async () => {
  await askAll(UNKNOWN, async (name) => {
    for (const door of DOORS) {
      const answer = await ask(door, `${encodeURIComponent(name)}=1`);
      const { error } = JSON.parse(answer.text) as { readonly error: string };
      assert.equal(answer.status, 400, `${name}: ${answer.text}`);
      assert.ok(error.startsWith(`"${name}" `), `${name}: ${error}`);
      assert.equal(answer.headers.get('x-injected'), null);
    }
  });
});

test('very long names, very many names, and escapes that no encoder writes', async () => {
  const many = Array.from({ length: 1_500 }, (_, at) => `p${at}=1`).join('&');
  const escapes = ['%', '%2', '%zz', '%00', '%ff%fe', '%c0%af', '%ed%a0%80', '%F0%9F'];
  const queries = [
    `${'a'.repeat(8_000)}=1`,
    many,
    '=',
    '=1',
    '&&&',
    '=&=',
    'limit',
    '?limit=1',
    '#',
    ...escapes.flatMap((escape) => [`range=${escape}`, `${escape}=1`, `subattribute=a|${escape}`]),
  ];
  await askAll(queries, async (query) => {
    for (const door of DOORS) {
      const { status, text } = await ask(door, query);
      assert.ok(status < 500, `${query.slice(0, 80)}: ${status} ${text}`);
    }
  });
});

/** The client's own path normalization removes these two. */
const KEYS = TEXTS.filter((text) => !/^(|\.|\.\.)$/.test(text));
const SEPARATOR = '\u00a6';

test('keys and subkeys of any text find the records under it, and nothing else', async () => {
  const fits = (text: string): boolean => Buffer.byteLength(text) <= 1_500 && text !== '\u0000';
  const stored = KEYS.filter((text) => fits(text) && !text.includes('\u0000'));
  const rows = stored.map((k, at) => ({
    k,
    s: stored[stored.length - 1 - at],
    d: '2024-01-01',
    at,
  }));
  const index = { key: 'k', subkey: 's', date: 'd' };
  const job = await loaded(server, 'KEYS', JSON.stringify(rows), index);
  assert.equal(job.recordsInvalid, 0);
  const separated = `range=max&batchSeparator=${encodeURIComponent(SEPARATOR)}`;
  await askAll(KEYS, async (text) => {
    const same = (value: string | undefined): boolean =>
      value === text || value === text.toUpperCase();
    for (const subkey of [undefined, rows.find(({ k }) => k === text)?.s, text]) {
      const path = [text, ...(subkey === undefined ? [] : [subkey])].map(encodeURIComponent);
      const answer = await ask(`/data/WS/KEYS/${path.join('/')}`, separated);
      const context = `${JSON.stringify(path).slice(0, 200)}: ${answer.status} ${answer.text}`;
      assert.ok(answer.status < 500, context);
      if (!fits(text)) continue;
      const upper = subkey?.toUpperCase();
      const expected = rows.filter(
        ({ k, s }) => same(k) && (subkey === undefined || s === subkey || s === upper),
      );
      assert.equal(answer.status, 200, context);
      const answered = JSON.parse(answer.text) as typeof rows;
      const numbers = answered.map(({ at }) => at).toSorted((a, b) => a - b);
      assert.deepEqual(
        numbers,
        expected.map(({ at }) => at),
        context,
      );
    }
  });
});

test('a key of whole numbers is found by no other text', async () => {
  const same = new Set(['7', '7.0', '07', ' 7', '7e0']);
  await askAll([...KEYS, '7', '7.4', '6.6', '7.0', '７', '7;', '7 '], async (text) => {
    const query = `range=max&batchSeparator=${encodeURIComponent(SEPARATOR)}`;
    const answer = await ask(`/data/WS/CODES/${encodeURIComponent(text)}`, query);
    assert.ok(answer.status < 500, `${text.slice(0, 50)}: ${answer.status} ${answer.text}`);
    if (answer.status !== 200 || answer.text === '[]') return;
    assert.ok(same.has(text.trim()) || Number(text) === 7, `${text} found ${answer.text}`);
  });
});

test('nothing was harmed', async () => {
  const { status, text } = await ask('/data/WS/BARS/AAPL', 'range=max');
  assert.equal(status, 200);
  assert.equal((JSON.parse(text) as readonly unknown[]).length, 2);
});
