// Answers as charts: at each endpoint at the price of the same records as JSON, with refusals in JSON.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { get, loaded, send } from '../../base/client.ts';
import { test } from '../../base/fixtures.ts';
import type { TestServer } from '../../base/server.ts';

const SQL = encodeURIComponent("SELECT date, v FROM P WHERE symbol = 'A' ORDER BY date");
const DOORS = [
  '/time-series/WS.P/A?last=50',
  '/data/WS/P/A?last=50',
  '/data/WS/VIEWED/A?last=50',
  `/sql-query/WS?sqlQuery=${SQL}`,
  '/endpoints/WS/published?least=3',
];

async function filled(server: TestServer): Promise<void> {
  const rows = ['A', 'B'].flatMap((symbol) =>
    Array.from({ length: 40 }, (_, at) => {
      const day = new Date(Date.UTC(2024, 0, 1 + at)).toISOString().slice(0, 10);
      return `${symbol},${day},${at},${'<b>"x&y'.repeat(20)}`;
    }),
  );
  const csv = `symbol,date,v,note\n${rows.join('\n')}\n`;
  await loaded(server, 'P', csv, { key: 'symbol', date: 'date' });
  const view = { query: 'SELECT symbol, date, v, note FROM P', columnMapping: MAPPING };
  const endpoint = {
    query: "SELECT date, v FROM P WHERE symbol = 'A' AND v > $least",
    parameters: [{ name: 'least', type: 'number' }],
  };
  for (const [path, value] of [
    ['/views/WS/VIEWED', { view }],
    ['/endpoints/WS/published', { endpoint }],
  ] as const) {
    const { status, text } = await send(server, 'POST', path, value);
    assert.equal(status, 200, text);
  }
}

const MAPPING = { key: 'symbol', date: 'date' };
const MANY = encodeURIComponent('SELECT symbol, date, v FROM MANY');
const BARS = `symbol,date,Open,High,Low,Close
A,2024-01-01,1,4,0,2
A,2024-01-02,2,3,1,1
B,2024-01-02,5,9,4,6
`;
const usedOf = (answer: Response): string | null => answer.headers.get('svccloud-messages-used');

test('a chart costs as much as its records, at every endpoint', async ({ server }) => {
  await filled(server);
  for (const door of DOORS) {
    const json = await get(server, door);
    assert.equal(json.status, 200, `${door}: ${await json.text()}`);
    assert.notEqual(usedOf(json), '0');
    for (const [format, type] of [
      ['svg', 'image/svg+xml'],
      ['png', 'image/png'],
      ['vega-lite', 'application/vnd.vegalite.v5+json'],
    ]) {
      const picture = await get(server, `${door}&format=${format}`);
      const bytes = Buffer.from(await picture.arrayBuffer());
      assert.equal(picture.status, 200, `${door}: ${bytes.toString()}`);
      assert.equal(picture.headers.get('content-type'), type);
      assert.equal(usedOf(picture), usedOf(json), door);
      assert.match(picture.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
      assert.equal(picture.headers.get('cross-origin-resource-policy'), 'cross-origin');
      assert.equal(picture.headers.get('cache-control'), 'private, max-age=60');
      assert.ok(bytes.length > 500);
    }
  }
});

test('a chart is cached by its tag, for the lifetime of its link, and HEAD returns only its headers', async ({
  server,
}) => {
  await filled(server);
  const path = '/time-series/WS.P/A?last=5&format=svg&cacheTTL=3600';
  const first = await get(server, path);
  assert.equal(first.headers.get('cache-control'), 'private, max-age=3600');
  const tag = first.headers.get('etag') ?? '';
  const url = `${server.base}/v1${path}&token=${server.publishable}`;
  const again = await fetch(url, { headers: { 'if-none-match': tag } });
  assert.deepEqual([again.status, usedOf(again)], [304, '0']);
  const head = await fetch(url, { method: 'HEAD' });
  assert.deepEqual(
    [head.status, head.headers.get('content-type'), usedOf(head)],
    [200, 'image/svg+xml', '0'],
  );
  // The accepted types of an <img> of a browser do not turn data into a chart.
  const accept = 'image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5';
  const plain = await fetch(url.replace('&format=svg', ''), { headers: { accept } });
  assert.match(plain.headers.get('content-type') ?? '', /^application\/json/);
});

test('refusals are JSON, name their parameter, and cost nothing', async ({ server }) => {
  await filled(server);
  const of = '/data/WS/P/A?last=5&format=png';
  const keys = Array.from({ length: 9 }, (_, at) => `K${at},2024-01-01,${at}`);
  await loaded(server, 'MANY', `symbol,date,v\n${keys.join('\n')}\n`, MAPPING);
  await loaded(server, 'BARS', BARS, MAPPING);
  const refused: readonly (readonly [string, RegExp])[] = [
    [`${of}&chartColumn=zz`, /"chartColumn" is none of symbol, date, v, note/],
    [`${of}&chartColumn=note`, /"chartColumn" has no numbers in note/],
    [`${of}&chartWidth=239`, /"chartWidth" must be a whole number from 240 to 2000/],
    [`${of}&chartHeight=1201`, /"chartHeight" must be a whole number from 120 to 1200/],
    [`${of}&chartTitle=${'x'.repeat(201)}`, /"chartTitle" must have at most 200 characters/],
    [`${of}&callback=f`, /"callback" is not allowed with format png/],
    ['/data/WS/P/A?last=5&chartWidth=300', /"chartWidth" goes with format svg, png or vega-lite/],
    ['/data/WS/P/A?last=5&chartKind=line', /"chartKind" goes with format svg, png or vega-lite/],
    [`${of}&chartColumn=v,,v`, /"chartColumn" has an empty name/],
    [`${of}&chartColumn=v,v`, /"chartColumn" names v twice/],
    [`${of}&chartColumn=v,zz`, /"chartColumn" names zz, which is none of symbol, date, v, note/],
    [`${of}&chartColumn=a,b,c,d,e,f,g,h,i`, /"chartColumn" must name at most 8 attributes/],
    [`${of}&chartKind=pie`, /"chartKind" must be one of line, candles/],
    [`${of}&chartKind=candles`, /"chartKind" candles needs .*: missing open, high, low, close/],
    ['/data/WS/P/A?last=5&format=vega-lite&callback=f', /"callback" is not allowed with format/],
    [
      '/data/WS/MANY?limit=50&format=svg',
      /"format" draws at most 8 lines, and there are 9 of symbol/,
    ],
    [
      '/time-series/WS.MANY?limit=50&format=svg',
      /at most 8 lines, and there are 9 of key: request fewer/,
    ],
    ['/data/WS/BARS?limit=50&format=png&chartKind=candles', /"format" draws candles of one symbol/],
    [`/sql-query/WS?format=svg&sqlQuery=${MANY}`, /at most 8 lines, and there are 9 of symbol/],
    ['/data/WS/P,VIEWED/A?format=svg', /"format" svg renders the records of one dataset/],
    ['/stock/A/company?format=svg', /"format" must be one of/],
    [`/sql-query/WS?format=svg&sqlQuery=SELECT+note+FROM+P`, /must name a column of numbers/],
  ];
  for (const [path, rule] of refused) {
    const answer = await get(server, path);
    const text = await answer.text();
    assert.equal(answer.status, 400, `${path}: ${text}`);
    const { error, message } = JSON.parse(text) as { error?: string; message?: string };
    assert.match(error ?? message ?? '', rule, path);
    assert.ok(['0', null].includes(usedOf(answer)), path);
  }
  const dear = await get(server, '/data/WS/P/A?last=5&format=svg&maxMessages=1');
  assert.equal(dear.status, 402);
});

interface ChartSpec {
  readonly title: string;
  readonly data: { readonly values: readonly Readonly<Record<string, unknown>>[] };
  readonly layer?: readonly { readonly mark: { readonly type: string } }[];
}

/** The content of a chart, as its specification. */
async function readSpec(server: TestServer, path: string): Promise<ChartSpec> {
  const answer = await get(server, `${path}&format=vega-lite`);
  const text = await answer.text();
  assert.equal(answer.status, 200, `${path}: ${text}`);
  return JSON.parse(text) as ChartSpec;
}

test('several keys and columns are lines, at every endpoint', async ({ server }) => {
  await loaded(server, 'BARS', BARS, MAPPING);
  const view = { query: 'SELECT symbol, date, Open, Close FROM BARS', columnMapping: MAPPING };
  const creation = await send(server, 'POST', '/views/WS/SEEN', { view });
  assert.equal(creation.status, 200, creation.text);
  const sql = encodeURIComponent('SELECT date, symbol, Close FROM BARS');
  for (const path of [
    '/data/WS/BARS?limit=50&chartColumn=Close',
    '/data/WS/BARS/A,B?limit=50&chartColumn=Close',
    '/time-series/WS.BARS?limit=50&chartColumn=Close',
    '/data/WS/SEEN?limit=50&chartColumn=Close',
    `/sql-query/WS?sqlQuery=${sql}`,
  ]) {
    const { data, title } = await readSpec(server, path);
    const lines = data.values.map(({ label, line, value }) => [label, line, value].join(' '));
    assert.deepEqual(
      lines,
      ['2024-01-01 A 2', '2024-01-02 A 1', '2024-01-01 B ', '2024-01-02 B 6'],
      path,
    );
    assert.match(title, /Close$/);
    const svg = await (await get(server, `${path}&format=svg`)).text();
    assert.match(svg, /aria-label="[^"]*Close: A, B"/, path);
  }
  const both = await readSpec(server, '/data/WS/BARS/A?limit=9&chartColumn=Open,Close');
  assert.deepEqual([...new Set(both.data.values.map(({ line }) => line))], ['Open', 'Close']);
  assert.equal(both.title, 'A · BARS', 'the legend has their names');
});

test('candles are rendered if the records have them, at the price of the records', async ({
  server,
}) => {
  await loaded(server, 'BARS', BARS, MAPPING);
  const path = '/data/WS/BARS/A?limit=9&chartKind=candles';
  const { data, layer } = await readSpec(server, path);
  assert.deepEqual(
    layer?.map(({ mark }) => mark.type),
    ['rule', 'bar'],
  );
  assert.deepEqual(data.values[0], { label: '2024-01-01', open: 1, high: 4, low: 0, close: 2 });
  const json = await get(server, '/data/WS/BARS/A?limit=9');
  for (const format of ['svg', 'png', 'vega-lite']) {
    const picture = await get(server, `${path}&format=${format}`);
    assert.deepEqual([picture.status, usedOf(picture)], [200, usedOf(json)]);
  }
});

test('an empty answer is an empty chart, and names are escaped text', async ({ server }) => {
  await filled(server);
  const none = await get(server, '/data/WS/P/C?last=5&format=svg');
  assert.match(await none.text(), />no values</);
  assert.equal(usedOf(none), '0');
  const title = encodeURIComponent('</text><script>alert(1)</script>\u0000');
  const svg = await (
    await get(server, `/data/WS/P/A?last=5&format=svg&chartTitle=${title}`)
  ).text();
  assert.ok(svg.includes('&lt;script&gt;') && !/<script|\u0000/.test(svg));
});

test('a long answer of SQL is rendered from its file, which is removed afterwards', async ({
  server,
}) => {
  const rows = Array.from({ length: 60_000 }, (_, at) => `K${at},${at % 700}`);
  await loaded(server, 'BIG', `symbol,n\n${rows.join('\n')}\n`, { key: 'symbol' });
  const query = encodeURIComponent('SELECT n FROM BIG');
  const picture = await get(server, `/sql-query/WS?format=png&sqlQuery=${query}`);
  const bytes = Buffer.from(await picture.arrayBuffer());
  assert.equal(picture.status, 200, bytes.toString());
  assert.equal(picture.headers.get('content-type'), 'image/png');
  assert.ok(Number(usedOf(picture)) > 10_000);
  const wide = encodeURIComponent(`SELECT n, '${'x'.repeat(100)}' AS note FROM BIG`);
  const refused = await get(server, `/sql-query/WS?format=svg&sqlQuery=${wide}`);
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /svg draws at most 4194304 bytes of records/);
  // Both were files, and no request waits for their removal.
  const left = async (): Promise<readonly string[]> => {
    const all = await readdir(join(server.folder, 'tmp'), { recursive: true, withFileTypes: true });
    return all.filter((one) => one.isFile()).map(({ name }) => name);
  };
  await expect.poll(left, { timeout: 30_000 }).toEqual([]);
});
