// Long answers of SQL are written by DuckDB, short ones by our code: their contents are equal.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, test } from 'vitest';
import { localDisk } from '../../../store/base/disk.ts';
import { loaded } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const INDEX = { key: 'symbol', date: 'time' };
const ROWS = 12_000;
/** The maximum number of rows that our code renders. */
const SHORT = 10_000;

const NOTES = ['', 'plain', 'a,b', 'a|b', '"quoted"', 'line\nbreak', 'é 漢 👍', "'", '\\', 'NULL'];

function bodyOf(): string {
  const rows = Array.from({ length: ROWS }, (_, at) => ({
    symbol: `S${at % 7}`,
    time: new Date(Date.UTC(2024, 0, 1) + at * 1_001).toISOString(),
    day: new Date(Date.UTC(2024, 0, 1 + (at % 400))).toISOString().slice(0, 10),
    price: at % 11 === 0 ? null : at / 8,
    size: at % 13 === 0 ? 9_007_199_254_740_000 + at * 1_000 : at,
    open: at % 17 === 0 ? null : at % 2 === 0,
    note: NOTES[at % NOTES.length],
    detail: at % 19 === 0 ? { at, list: [1, 'a'] } : null,
  }));
  return JSON.stringify(rows).replaceAll(/9007199254\d+/g, (digits) => digits);
}

const SELECT = `SELECT *, price * 1.5 AS half, sum(size) OVER () AS total,
  CAST(price AS DECIMAL(18, 3)) AS exact,
  TIMESTAMP '2024-01-01 00:00:00.123456' AS fine, price / 0 AS never, symbol, 12345678901234567890 AS wide,
  CAST(price AS FLOAT) / 3 AS narrow, array_agg(note) OVER near AS words,
  array_agg(price / (size % 2)) OVER near AS numbers, array_agg(size) OVER near AS sizes,
  array_agg(time) OVER near AS times, array_agg(CAST(size AS DECIMAL(18, 1))) OVER near AS exacts,
  CAST(CASE size % 4 WHEN 0 THEN '{"n": NaN}' WHEN 1 THEN '[1,2,]' WHEN 2 THEN '{"a": "NaN,]\\\\\\""}'
    ELSE '[true, false, null, -1.5e3, "infinite"]' END AS JSON) AS given
  FROM TICKS WINDOW near AS (ORDER BY time ROWS 1 PRECEDING) ORDER BY time`;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await loaded(server, 'TICKS', bodyOf(), INDEX);
});
afterAll(() => server.close());

async function ask(limit: number, format: string): Promise<Response> {
  const url = `${server.base}/v1/sql-query/WS?format=${format}&token=${server.publishable}`;
  const answer = await fetch(url, { method: 'POST', body: `${SELECT} LIMIT ${limit}` });
  assert.equal(answer.status, 200, answer.ok ? format : await answer.text());
  return answer;
}

test('DuckDB writes the same as our code renders', async () => {
  for (const format of ['json', 'jsonl', 'csv', 'psv']) {
    const read = async (limit: number): Promise<readonly unknown[]> => {
      const answer = await ask(limit, format);
      const messages = Number(answer.headers.get('svccloud-messages-used'));
      const text = await answer.text();
      assert.equal(messages, Math.max(limit, Math.ceil(Buffer.byteLength(text) / 1_000)), format);
      return recordsOf(text, format);
    };
    const short = await read(SHORT);
    const long = await read(ROWS);
    assert.equal(long.length, ROWS);
    // One by one: computing the difference of two long lists takes minutes.
    const first = short.findIndex((row, at) => !isDeepStrictEqual(row, long[at]));
    assert.deepEqual(long[first], short[first], `${format}, row ${first}`);
  }
  await noBodies();
});

test('rows that break off late are an error in every format, and cost nothing', async () => {
  const late = `SELECT *, ${Array.from({ length: 20 }, (_, at) => `price AS p${at}`).join(', ')},
    CASE WHEN day = DATE '2024-12-31' THEN CAST(note || 'x' AS INTEGER) ELSE 1 END AS broken
    FROM TICKS LIMIT`;
  for (const format of ['json', 'jsonl', 'csv', 'psv', 'arrow', 'parquet']) {
    for (const limit of [SHORT, ROWS]) {
      const url = `${server.base}/v1/sql-query/WS?format=${format}&token=${server.publishable}`;
      const answer = await fetch(url, { method: 'POST', body: `${late} ${limit}` });
      const text = await answer.text();
      assert.equal(answer.status, 400, `${format} ${limit} ${text.slice(0, 200)}`);
      assert.match(text, /does not fit a cast/, `${format} ${text}`);
      assert.equal(answer.headers.get('svccloud-messages-used') ?? '0', '0');
    }
  }
  await noBodies();
});

test('columns with the same name in any case are renamed alike in short and long answers', async () => {
  const url = `${server.base}/v1/sql-query/WS?format=csv&token=${server.publishable}`;
  const list = "'x' AS a, symbol AS A, 'y' AS a_1, size AS a, 'é' AS É, day AS é";
  // Rendered as they arrive; cached, then rendered; cached, then written by DuckDB.
  for (const rest of ['LIMIT 10', "WHERE symbol = 'S1'", '']) {
    const answer = await fetch(url, { method: 'POST', body: `SELECT ${list} FROM TICKS ${rest}` });
    const [header] = (await answer.text()).split('\n');
    assert.equal(header, 'a,A_1,a_1_1,a_2,É,é', rest);
  }
});

/** A file is removed once its last byte is sent, which its reader may notice first. */
async function noBodies(): Promise<void> {
  const files = async (): Promise<readonly string[]> =>
    (await localDisk.list(join(server.folder, 'tmp'))).filter((name) => name.includes('body'));
  for (let look = 0; look < 200 && (await files()).length > 0; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(await files(), []);
}

test('the file of a long answer is removed when its reader disconnects', async () => {
  const url = `${server.base}/v1/sql-query/WS?token=${server.publishable}`;
  const dear = await fetch(`${url}&maxMessages=5`, { method: 'POST', body: SELECT });
  assert.equal(dear.status, 402, await dear.text());
  const controller = new AbortController();
  const left = await fetch(url, { method: 'POST', body: SELECT, signal: controller.signal });
  controller.abort();
  await left.text().catch(() => undefined);
  await noBodies();
});

function recordsOf(text: string, format: string): readonly unknown[] {
  if (format === 'json') return JSON.parse(text) as unknown[];
  if (format === 'jsonl') {
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  }
  const rows = parse(text, { delimiter: format === 'csv' ? ',' : '|' });
  return rows.slice(1).map((row) => row.map(numberOr));
}

/** `10.0` and `10` are one number; digits above 2^53 stay text. */
const numberOr = (cell: string): string | number =>
  /^-?\d{1,15}(\.\d+)?$/.test(cell) ? Number(cell) : cell;

test('a syntax error beside letters of several bytes is refused as any other', async () => {
  const url = `${server.base}/v1/sql-query/WS?token=${server.publishable}`;
  for (const length of [1, 60, 5_000, 49_990]) {
    for (const letter of ['é', '漢', 'e']) {
      const answer = await fetch(url, { method: 'POST', body: letter.repeat(length) });
      const text = await answer.text();
      assert.deepEqual([letter, length, answer.status], [letter, length, 400], text.slice(0, 200));
      // Without a place where DuckDB gives none.
      assert.match(text, /sqlQuery\\"(?: line 1, column 1)?: syntax error/);
    }
  }
});
