// Texts that a spreadsheet would run: escaped if a browser opens the answer or its caller requests it,
// unchanged for programs, the same in answers of a few rows and in those that DuckDB writes.
import assert from 'node:assert/strict';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, test } from 'vitest';
import { loaded } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';

const RUNS = [
  '=1+1',
  '+cmd|x',
  '-2+3',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  '＝1',
  '=',
  '-',
  '-a',
  '-1.5e',
];
const PLAIN_CELLS = ['-1.5', '+1', '-.5e-3', '-1.', 'a=1', ' =1', "'=1", '"=1"', '1-2', 'x', ''];

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  const texts = [...RUNS, ...PLAIN_CELLS];
  const records = texts.map((text, at) => ({
    n: at,
    symbol: text,
    '=head': text,
    price: -1.5,
    doc: { at: '=1' },
  }));
  await loaded(server, 'F', JSON.stringify(records), { key: 'n' });
  const many = Array.from({ length: 12_000 }, (_, at) => `${at},${PLAIN_CELLS[9]},-${at}.5`);
  const cells = texts.slice(0, 10).map((text, at) => `${20_000 + at},"${text}",-2`);
  await loaded(server, 'MANY', `n,s,v\n${[...many, ...cells].join('\n')}\n`, { key: 'n' });
});
afterAll(() => server.close());

type Cells = readonly Readonly<Record<string, string>>[];

async function ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Cells> {
  const url = `${server.base}/v1${path}&token=${server.publishable}`;
  const answer = await fetch(url, { headers });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  assert.match(answer.headers.get('vary') ?? '', /Sec-Fetch-Mode/);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/(csv|plain)/);
  const delimiter = path.includes('psv') ? '|' : ',';
  return parse(text, { columns: true, delimiter, bom: false }) as Cells;
}

const escapeFormula = (text: string): string => (RUNS.includes(text) ? `'${text}` : text);
const byN = (cells: Cells): Cells => cells.toSorted((a, b) => Number(a['n']) - Number(b['n']));

const DOORS = [
  '/data/WS/F?limit=100&format=',
  `/sql-query/WS?sqlQuery=${encodeURIComponent('SELECT * FROM F')}&format=`,
];

test('escaped: a mark before each formula, at every endpoint, in every format, nowhere else', async () => {
  for (const door of DOORS) {
    for (const format of ['csv', 'psv', 'text']) {
      const answerCells = byN(await ask(`${door}${format}&csvFormulas=escape`));
      const texts = [...RUNS, ...PLAIN_CELLS];
      assert.deepEqual(
        answerCells.map(({ symbol }) => symbol),
        texts.map(escapeFormula),
      );
      const [first] = answerCells;
      assert.equal(first?.["'=head"], escapeFormula('=1+1'), 'the header too');
      assert.ok(answerCells.every(({ price }) => price === '-1.5'));
      assert.ok(answerCells.every(({ doc }) => doc === '{"at":"=1"}'));
    }
  }
});

test('a browser gets escaped texts by default; a script and a program get them unchanged', async () => {
  const [door = ''] = DOORS;
  const isEscaped = async (query: string, headers = {}): Promise<boolean> =>
    byN(await ask(`${door}csv${query}`, headers))[0]?.['symbol'] === "'=1+1";
  const page = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  assert.equal(await isEscaped(''), false);
  assert.equal(await isEscaped('', page), true);
  assert.equal(await isEscaped('', { 'sec-fetch-dest': 'document' }), true);
  assert.equal(await isEscaped('', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }), false);
  assert.equal(await isEscaped('&csvFormulas=keep', page), false);
  const bad = await fetch(`${server.base}/v1${door}csv&csvFormulas=no&token=${server.publishable}`);
  assert.equal(bad.status, 400);
  assert.match(await bad.text(), /csvFormulas/);
});

test('an answer that DuckDB writes is escaped alike', async () => {
  const sql = encodeURIComponent('SELECT n, s, v, s AS "=s" FROM MANY');
  const rows = byN(
    await ask(`/sql-query/WS?sqlQuery=${sql}&format=csv&csvFormulas=escape`, {
      authorization: `Bearer ${server.secret}`,
    }),
  );
  assert.ok(rows.length > 10_000, `${rows.length}`);
  const cells = rows.slice(-10).map(({ s }) => s);
  assert.deepEqual(cells, [...RUNS, ...PLAIN_CELLS].slice(0, 10).map(escapeFormula));
  assert.equal(rows[0]?.["'=s"], 'x');
  assert.ok(rows.slice(0, 12_000).every(({ n, v }) => v === `-${n}.5` || n === '0'));
});

test('caches keep the two answers apart', async () => {
  const tagOf = async (more: string): Promise<string | null> => {
    const url = `${server.base}/v1/data/WS/F?format=csv&token=${server.publishable}${more}`;
    return (await fetch(url)).headers.get('etag');
  };
  assert.notEqual(await tagOf(''), await tagOf('&csvFormulas=escape'));
});
