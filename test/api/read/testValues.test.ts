// Nothing of production gets into the test environment: no value of a record, no result computed from
// it, no token, no definition. Nothing of the test environment gets into production.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { ENDPOINTS } from '../../../api/endpoints/index.ts';
import { expandPath } from '../../../api/introspection/openapi/openapi.ts';
import { loaded, send } from '../../base/client.ts';
import { note } from '../../base/notes.ts';
import { startServer, type TestServer } from '../../base/server.ts';

/** Texts that only values and definitions include. */
const MARKS = [
  '987654.321',
  '7654321',
  'Zebrafish',
  'Quokka',
  '2019-07-13',
  '2018-03-17',
  'Xylophone',
  '5551212',
  '1563024153',
  'Wolverine',
  'Narwhal',
  'Pangolin',
  'Axolotl',
  'Capybara',
  'Okapi',
];
const DAYS = 12;
/** A snapshot arrives within 5 ms. */
const STREAM_MS = 40;

let server: TestServer;
let sandbox = '';
let tokens: { readonly publishable: string; readonly secret: string };
let ours: readonly string[] = [];
beforeAll(async () => {
  server = await startServer({
    settings: { TAPEDECK_SANDBOX_PORT: '0', TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' },
  });
  sandbox = server.tapedeck.sandbox ?? '';
  const record = (symbol: string, at: number): object => ({
    symbol,
    date: `2024-01-${String(at + 1).padStart(2, '0')}`,
    price: 987654.321 + at,
    volume: 7654321 + at,
    name: `Zebrafish Quokka ${at}`,
    listed: '2019-07-13',
    seen: '2018-03-17T11:22:33Z',
    open: at % 2 === 0,
    doc: { who: 'Xylophone', n: 5551212, at: [1.5, at] },
  });
  const records = ['AAA', 'BBB'].flatMap((symbol) =>
    Array.from({ length: DAYS }, (_, at) => record(symbol, at)),
  );
  await loaded(server, 'P', JSON.stringify(records), { key: 'symbol', date: 'date' });
  const rejected = 'symbol,date,price\nAAA,2024-02-01,Wolverine\nCCC,2024-02-01,987654.321\n';
  await loaded(server, 'P', rejected, { maximumValidationErrors: '9' });
  await loaded(server, 'U', 'x,y\n987654.321,7654321\n987655.321,7654322\n');
  await define();
  const pushed = await send(server, 'POST', '/record/WS/P?wait=true', record('PUSHED', 3));
  assert.equal(pushed.status, 200, pushed.text);
  const all = await server.tapedeck.services.accounts.tokens(server.tapedeck.accountId);
  const of = (kind: string): string =>
    all.find((token) => token.test && token.kind === kind)?.text ?? '';
  tokens = { publishable: of('publishable'), secret: of('secret') };
  ours = all.filter((token) => !token.test).map(({ text }) => text);
});
afterAll(() => server.close());

/** Creates a definition of each kind, with marks. */
async function define(): Promise<void> {
  const make = async (method: string, path: string, body: object): Promise<string> => {
    const { status, text } = await send(server, method, path, body);
    assert.equal(status, 200, `${path}: ${text}`);
    return text;
  };
  const view = "SELECT symbol, date, price AS p, name FROM P WHERE name <> 'Narwhal'";
  await make('POST', '/views/WS/V', { view: { query: view } });
  const query = "SELECT price AS p, name FROM P WHERE name <> 'Narwhal' AND symbol = $symbol";
  const parameters = [{ name: 'symbol', type: 'string' }];
  await make('POST', '/endpoints/WS/E', { endpoint: { query, parameters } });
  const url = 'http://127.0.0.1:61234/Pangolin';
  await make('POST', '/data-sources/WS', { name: 'Axolotl', type: 'HTTP', url });
  const headers = { authorization: 'Capybara' };
  await make('POST', '/credentials/WS', { name: 'Okapi', type: 'HTTP', headers });
  await make('POST', '/webhooks/WS', { name: 'Okapi', url, events: ['ERROR'] });
}

const ask = (base: string, path: string, token: string): Promise<Response> =>
  fetch(`${base}/v1${path}${path.includes('?') ? '&' : '?'}token=${token}`);

async function textOf(path: string, token = tokens.secret): Promise<string> {
  const answer = await ask(sandbox, path, token);
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const body = isStream ? await beginOf(answer) : Buffer.from(await answer.arrayBuffer());
  return `${answer.status}\n${headers}\n${body.toString('latin1')}`;
}

/** The first messages of a stream, because it has no end. */
async function beginOf({ body }: Response): Promise<Buffer> {
  const reader = body?.getReader();
  const first = await Promise.race([reader?.read(), sleep(STREAM_MS)]);
  await reader?.cancel();
  return Buffer.from(first?.value ?? '');
}

function assertClean(text: string, context: string): void {
  for (const mark of [...MARKS, ...ours]) {
    assert.ok(!text.includes(mark), `${context}: ${mark} in ${text.slice(0, 600)}`);
  }
}

const FORMATS = ['json', 'jsonl', 'csv', 'psv', 'text', 'arrow', 'parquet', 'svg'];

test('no answer of any route includes a value, token or definition', async (t) => {
  const names = ['P', 'V', 'E', 'price', 'AAA', 'Axolotl'];
  let answered = 0;
  let requestCount = 0;
  for (const { method, path, aliases = [] } of ENDPOINTS) {
    if (method !== 'GET') continue;
    for (const route of [path, ...aliases].flatMap(expandPath)) {
      const paths = names.map((name) =>
        route
          .replace(':workspace', 'WS')
          .replace(':attribute', 'price')
          .replace(/:(key|subkey|symbol)/, 'AAA')
          .replaceAll(/:\w+/g, name),
      );
      // Most routes have no name parameter.
      for (const at of new Set(paths)) {
        for (const token of [tokens.secret, tokens.publishable]) {
          const text = await textOf(at, token);
          assertClean(text, at);
          requestCount += 1;
          if (text.startsWith('200')) answered += 1;
        }
      }
    }
  }
  note(t, `${requestCount} requests, ${answered} were answered`);
  assert.ok(answered > 50);
});

test('no read includes a value, at any endpoint, format, view, published query or from memory', async () => {
  for (let time = 0; time < 3; time += 1) {
    const warm = await ask(server.base, '/data/WS/P/AAA?last=5', server.publishable);
    assert.match(await warm.text(), /987654\.321|Quokka/, 'it is cached');
  }
  const doors = [
    '/data/WS/P?limit=100',
    '/data/WS/P/AAA?last=5',
    '/data/WS/P/PUSHED',
    '/data/WS/P,P?last=2',

    '/time-series/P/AAA?last=9',
    '/time-series/WS.P?limit=50&includeSystemRecordProperties=true',
    '/time-series/V/AAA?last=9',
    '/data/WS/V?limit=50',
    '/endpoints/WS/E?symbol=AAA',
    '/data/WS/P/AAA?collapse=monthly&last=5',
    '/data/WS/P/AAA?transform=diff&last=5',
    '/data/WS/P?dateField=listed&limit=9',
    '/data/WS/P?subattribute=name%7CZebra&limit=9',
    '/data/WS/P?queryId=q1&limit=100',
    '/data/WS/P/AAA?asOf=2999-01-01&last=9',
    `/sql-query/WS?sqlQuery=${encodeURIComponent('SELECT * FROM P')}`,
  ];
  for (const door of doors) {
    for (const format of FORMATS) {
      const text = await textOf(`${door}${door.includes('?') ? '&' : '?'}format=${format}`);
      assertClean(text, `${door} ${format}`);
      if (format === 'json') assert.match(text, /^200/, `${door}: ${text}`);
    }
  }
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(987654.321);
  for (const format of ['arrow', 'parquet']) {
    const text = await textOf(`/data/WS/P?limit=100&format=${format}`);
    assert.ok(!text.includes(bytes.toString('latin1')), 'nor as a number of eight bytes');
  }
  const again = await ask(server.base, '/data/WS/P/AAA?last=1', server.publishable);
  assert.match(await again.text(), /Zebrafish Quokka 11/, 'production is unchanged');
});

/** Each column is computed from values; no result may equal that of production. */
const TEXTS = [
  'price AS x',
  'price + 0',
  'price * 2',
  '-price',
  'floor(price)',
  'CAST(price AS VARCHAR)',
  'CAST(volume AS DOUBLE)',
  'volume // 10',
  'volume + 1',
  'round(price, 1)',
  'abs(price)',
  'name',
  'upper(name)',
  'left(name, 9)',
  "name || '!'",
  "replace(name, 'q', 'z')",
  'md5(name)',
  "split_part(name, ' ', 1)",
  'reverse(name)',
  "concat(name, ',', price)",
  'hash(name)',
  'listed',
  'year(listed) * 10000 + dayofyear(listed)',
  "date_trunc('day', seen)",
  'epoch(seen)',
  "strftime(listed, '%d.%m.%Y')",
  'CAST(listed AS VARCHAR)',
  "json_extract_string(doc, '$.who')",
  'CAST(doc AS VARCHAR)',
  "doc->>'n'",
  'price AS symbol',
  'name AS symbol',
  'CAST(price AS BIGINT)',
  'coalesce(price, 0)',
  'CASE WHEN price > 0 THEN price END',
  'greatest(price, 1)',
  'price AS date',
  'CAST(name AS INTEGER)',
  'CAST(name AS DATE)',
  'CAST(doc AS DOUBLE)',
  "strptime(name, '%Y')",
  '(SELECT max(price) FROM P)',
  'lag(price, 0) OVER (ORDER BY date)',
  'max(price) OVER ()',
].map((item) => `SELECT ${item} FROM P WHERE symbol = 'AAA' ORDER BY date`);
const MORE = [
  'SELECT sum(price) FROM P',
  'SELECT avg(price), min(price), max(volume) FROM P',
  'SELECT name FROM P GROUP BY name ORDER BY name',
  'SELECT DISTINCT listed FROM P',
  'SELECT p FROM V ORDER BY p',
  'SELECT max(p) FROM V',
  'SELECT a.price - b.volume FROM P a JOIN P b USING (symbol, date) ORDER BY symbol, date',
  'SELECT v.p FROM V v JOIN P p USING (symbol, date) ORDER BY symbol, date',
  'WITH c AS (SELECT price AS y FROM P) SELECT max(y) FROM c',
  'SELECT price FROM P UNION ALL SELECT volume FROM P ORDER BY 1',
  "SELECT price FROM P WHERE symbol = 'PUSHED'",
  'SELECT x FROM (SELECT price AS x FROM P) ORDER BY x DESC LIMIT 3',
];

type Rows = readonly Readonly<Record<string, unknown>>[];

async function rowsOf(base: string, sql: string, token: string): Promise<Rows | undefined> {
  const answer = await ask(base, `/sql-query/WS?sqlQuery=${encodeURIComponent(sql)}`, token);
  const text = await answer.text();
  if (base === sandbox) assertClean(text, sql);
  return answer.status === 200 ? (JSON.parse(text) as Rows) : undefined;
}

test('every query computes from other values', async (t) => {
  let compared = 0;
  for (const sql of [...TEXTS, ...MORE]) {
    const real = await rowsOf(server.base, sql, server.secret);
    const other = await rowsOf(sandbox, sql, tokens.secret);
    assert.equal(real === undefined, other === undefined, sql);
    if (real === undefined || other === undefined) continue;
    assert.equal(other.length, real.length, sql);
    for (const [at, row] of other.entries()) {
      for (const [name, value] of Object.entries(row)) {
        // A missing value is missing in both.
        if (value === null) continue;
        assert.notDeepEqual(value, real[at]?.[name], `${sql}: ${name} of row ${at}`);
      }
    }
    compared += 1;
  }
  note(t, `${compared} of ${TEXTS.length + MORE.length} texts have an answer`);
  assert.ok(compared > 35);
});

test('keys and dates are unchanged: they filter, join and return as they are', async () => {
  const sql =
    "SELECT symbol, date FROM P WHERE symbol = 'AAA' AND date > '2024-01-05' ORDER BY date";
  assert.deepEqual(
    await rowsOf(sandbox, sql, tokens.secret),
    await rowsOf(server.base, sql, server.secret),
  );
  const joined = 'SELECT count(*) AS n FROM P a JOIN P b USING (symbol, date)';
  assert.deepEqual(
    await rowsOf(sandbox, joined, tokens.secret),
    await rowsOf(server.base, joined, server.secret),
  );
});

test('logs and charges of production do not exist', async () => {
  for (const name of ['CALLS', 'LOGS']) {
    assert.match(await textOf(`/data/_SYSTEM/${name}?limit=9`), /^404/);
    const sql = encodeURIComponent(`SELECT * FROM _SYSTEM.${name}`);
    assert.match(await textOf(`/sql-query/WS?sqlQuery=${sql}`), /^400[^]*there is no dataset/);
  }
  const explained = encodeURIComponent('SELECT * FROM V');
  assert.match(await textOf(`/sql-query/WS?explain=true&sqlQuery=${explained}`), /^403/);
});

test('conditions on values reveal nothing of the real ones', async () => {
  const count = async (where: string): Promise<unknown> =>
    (await rowsOf(sandbox, `SELECT count(*) AS n FROM P WHERE ${where}`, tokens.secret))?.[0]?.[
      'n'
    ];
  assert.equal(await count('price = 987654.321'), 0);
  assert.equal(await count("name LIKE 'Zebrafish%'"), 0);
  assert.equal(await count("listed = '2019-07-13'"), 0);
  const [row] = (await rowsOf(sandbox, 'SELECT min(price) AS x FROM P', tokens.secret)) ?? [];
  const shownPrice = Number(row?.['x']);
  // It is found although it is outside the range of the real values in the statistics of the files.
  assert.ok(
    Number(await count(`price BETWEEN ${shownPrice - 0.001} AND ${shownPrice + 0.001}`)) > 0,
  );
  const answerText = await textOf(`/data/WS/P?subattribute=price%7C987654.321&limit=5`);
  assert.match(answerText, /\[\]$/);
});

test('it writes nothing, and its named queries are its own', async () => {
  const { services } = server.tapedeck;
  const { database, lake, ledger, pending } = services;
  const tableId = lake.directory.dataset('WS', 'P')?.tableId ?? 0;
  await ledger.flush();
  const readStoredRows = async (): Promise<object> => ({
    journal: await database.selectFrom('journal').selectAll().execute(),
    usage: await database.selectFrom('usage').selectAll().execute(),
    cursors: await database.selectFrom('query_cursor').selectAll().execute(),
    log: await database.selectFrom('log').selectAll().execute(),
    audit: await database.selectFrom('audit').selectAll().execute(),
    pending: pending.pendingRows(tableId).length,
    snapshot: lake.snapshot,
  });
  const before = await readStoredRows();
  const first = await textOf('/data/WS/P?queryId=own&limit=100');
  assert.ok((first.match(/"symbol"/g)?.length ?? 0) > 20);
  const second = await textOf('/data/WS/P?queryId=own&limit=100');
  assert.ok(
    (second.match(/"symbol"/g)?.length ?? 0) <= 1,
    'only records that are in no file yet are repeated',
  );
  await textOf('/data/WS/P?limit=100');
  await ledger.flush();
  assert.deepEqual(await readStoredRows(), before);
  const real = await ask(server.base, '/data/WS/P?queryId=own&limit=100', server.publishable);
  assert.ok(((await real.json()) as object[]).length > 20, 'production starts at its beginning');
});

test('another server scrambles values differently: it has its own seed', async () => {
  await using another = await startServer({ settings: { TAPEDECK_SANDBOX_PORT: '0' } });
  const csv = Array.from({ length: 20 }, (_, at) => `K${at},${100_000 + at}`).join('\n');
  const read = async (from: TestServer): Promise<string> => {
    await loaded(from, 'SEED', `k,v\n${csv}\n`, { key: 'k' });
    const { accountId, services } = from.tapedeck;
    const all = await services.accounts.tokens(accountId);
    const token = all.find((item) => item.test && item.kind === 'secret')?.text ?? '';
    return (await ask(from.tapedeck.sandbox ?? '', '/data/WS/SEED?limit=50', token)).text();
  };
  assert.notEqual(await read(another), await read(server));
});
