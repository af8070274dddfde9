// The official JavaScript client, unmodified: `files`, in each of its three ways.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { send } from '../base/client.ts';
import { startServer, type TestServer } from '../base/server.ts';
import { iexjs } from './iexjs.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  iexjs.overrideUrl({ url: `${server.base}/v1/` });
  const fileType = { bySymbol: true, byDate: true, extension: 'json' };
  await send(server, 'PUT', '/file-types/WS/CLOSES', fileType);
  const path = '/file-types/WS/CLOSES/files?symbol=AAPL&date=20240228';
  const { status, text } = await send(server, 'POST', path, { close: 181.42 });
  assert.equal(status, 200, text);
});
afterAll(async () => {
  iexjs.overrideUrl({});
  await server.close();
});

test('files: the list, the info, the file itself', async () => {
  const standard = { token: server.secret, version: 'v1' };
  const types = (await iexjs.files({}, standard)) as readonly { readonly id: string }[];
  assert.deepEqual(
    types.map(({ id }) => id),
    ['CLOSES'],
  );
  const info = await iexjs.files({ id: 'CLOSES' }, standard);
  assert.deepEqual(info, { symbols: ['AAPL'], dates: ['20240228'] });
  const file = { id: 'CLOSES', symbol: 'AAPL', date: '20240228' };
  assert.deepEqual(await iexjs.files(file, standard), { close: 181.42 });
});
