// A push whose body has no record is refused with a sentence about records.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { loaded, read } from '../base/client.ts';
import { startServer, type TestServer } from '../base/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await loaded(server, 'PRICES', 'symbol,close\nA,1.5\n', { key: 'symbol' });
});
afterAll(() => server.close());

async function push(
  dataset: string,
  body: RequestInit['body'],
): Promise<readonly [number, string]> {
  const url = `${server.base}/v1/record/WS/${dataset}`;
  const headers = { authorization: `Bearer ${server.secret}` };
  const answer = await fetch(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
  return [answer.status, await answer.text()];
}

const chunked = (text: string): ReadableStream => new Blob([text]).stream();
const BODIES = ['null', '"hello"', '5', 'true', '[]', '[null]', '[1,"a"]', 'symbol,close\n'];

for (const body of BODIES) {
  test(`a push of ${JSON.stringify(body)} is refused`, async () => {
    for (const dataset of ['PRICES', 'ABSENT']) {
      const [status, text] = await push(dataset, body);
      assert.equal(status, 400, text);
      assert.match(text, /the body has no record: a record is a JSON object such as /);
    }
    const [status, text] = await push('PRICES', chunked(body));
    assert.equal(status, 400, text);
    assert.match(await read(server, '/data/WS/PRICES'), /^\[\{"symbol":"A","close":1.5\}\]$/);
  });
}

test('a list with a record is written', async () => {
  const [status, text] = await push('PRICES', '[{"symbol":"B","close":2.5}]');
  assert.equal(status, 200, text);
  assert.match(text, /wrote 1 records/);
});
