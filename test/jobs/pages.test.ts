// A list that arrives in pages is one version of its dataset, or none.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { send } from '../base/client.ts';
import { startHttp } from '../base/servers/http.ts';
import { startServer, type TestServer } from '../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  const settings = { TAPEDECK_ALLOW_PRIVATE_ADDRESSES: 'on' };
  server = await startServer({ settings, seams: { watch: false } });
});
afterAll(() => server.close());

type JsonObject = Readonly<Record<string, unknown>>;

async function ask(method: string, path: string, value?: object): Promise<unknown> {
  const { status, text } = await send(server, method, path, value);
  return status === 200 ? JSON.parse(text) : { status, text };
}

/** Pages as a server sends them; a number is the status of a failing page. */
type Pages = readonly (string | number)[];

/** Loads a list page by page into a dataset; returns the finished job. */
async function pulled(datasetId: string, pages: Pages, more: object = {}): Promise<JsonObject> {
  await using list = await startHttp((request, response) => {
    const page = pages[Number(new URL(request.url ?? '', 'http://list').searchParams.get('p')) - 1];
    response.writeHead(typeof page === 'number' ? page : 200).end(String(page ?? '[]'));
  });
  const source = {
    type: 'HTTP',
    name: 'list',
    url: `http://127.0.0.1:${list.port}/list`,
    pages: {
      kind: 'page',
      parameter: 'p',
    },
    ...more,
  };
  const { dataSourceId } = (await ask('POST', '/data-sources/WS', source)) as JsonObject;
  const order = { dataSourceId, datasetId, columnMapping: { key: 'symbol' } };
  const answer = (await ask('POST', '/jobs/WS/ingest?wait=true', order)) as JsonObject;
  const jobId = answer['jobId'] ?? /job ([0-9a-f]{32})/.exec(String(answer['text']))?.[1];
  return (await ask('GET', `/jobs/WS/ingest/${String(jobId)}`)) as JsonObject;
}

const rows = (id: string): Promise<unknown> =>
  ask('GET', `/data/WS/${id}?limit=100&sort=asc&filter=symbol,v,note`);

const versions = async (id: string): Promise<number> =>
  ((await ask('GET', `/datasets/WS/${id}/versions`)) as readonly unknown[]).length;

test('a fault of the last page discards all others', async () => {
  const pages = ['[{"symbol":"A","v":1}]', '[{"symbol":"B","v":2}]'];
  const job = await pulled('NEW', [...pages, 400]);
  assert.equal(job['status'], 'ERROR');
  assert.match(String(job['error']), /HTTP 400/);
  assert.equal(((await rows('NEW')) as JsonObject)['status'], 404, 'the dataset was never created');
  await pulled('OLD', ['[{"symbol":"A","v":1}]']);
  const before = [await rows('OLD'), await versions('OLD')];
  const again = await pulled('OLD', ['[{"symbol":"A","v":9}]', '[{"symbol":"C","v":3}]', 400]);
  assert.equal(again['status'], 'ERROR');
  assert.deepEqual([await rows('OLD'), await versions('OLD')], before);
});

test('all pages are one version, each record as it was written', async () => {
  const first =
    '[\n {"symbol":"A", "v":1,\r\n "note":"x\\u0001,\\"y\\""},\n {"symbol":"B","v":2.50}]';
  const last = '[{"symbol":"C","v":3,"note":"\\n"}, 7]';
  await pulled('ONE', ['[{"symbol":"Z","v":0.5,"note":""}]']);
  const before = await versions('ONE');
  const job = await pulled('ONE', [first, last]);
  assert.equal(job['status'], 'INGESTED', JSON.stringify(job));
  assert.deepEqual([job['recordsIngested'], job['recordsInvalid']], [3, 1]);
  assert.equal(await versions('ONE'), before + 1);
  const expected = [
    { symbol: 'A', v: 1, note: 'x\u0001,"y"' },
    { symbol: 'B', v: 2.5, note: null },
    { symbol: 'C', v: 3, note: '\n' },
  ];
  const stored = ((await rows('ONE')) as readonly JsonObject[]).filter(
    ({ symbol }) => symbol !== 'Z',
  );
  assert.deepEqual(
    stored.toSorted((a, b) => (String(a['symbol']) < String(b['symbol']) ? -1 : 1)),
    expected,
  );
});

test('records within documents are loaded', async () => {
  const page = (symbol: string): string =>
    `{"data":{"rows":[{"symbol":"${symbol}","v":1.0,"note":"n"}]}}`;
  const end = '{"data":{"rows":[]}}';
  const job = await pulled('DEEP', [page('A'), page('B'), end], { jsonPath: '$.data.rows[*]' });
  assert.equal(job['recordsIngested'], 2, JSON.stringify(job));
});
