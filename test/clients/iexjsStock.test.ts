// The official JavaScript client, unmodified: types of symbols, alone and in a batch.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { askStock, openStockWorld, type StockWorld } from '../api/read/stockCore.ts';
import { type Client, iexjs } from './iexjs.ts';

type Methods = Readonly<
  Record<string, ((options: Readonly<Record<string, unknown>>) => Promise<unknown>) | undefined>
>;

let world: StockWorld;
let client: Client & Methods;
beforeAll(async () => {
  world = await openStockWorld();
  iexjs.overrideUrl({ url: `${world.server.base}/v1/` });
  client = new iexjs.Client({ api_token: world.token, version: 'v1' }) as Client & Methods;
});
afterAll(async () => {
  iexjs.overrideUrl({});
  await world[Symbol.asyncDispose]();
});

const answered = async (path: string): Promise<unknown> =>
  JSON.parse((await askStock(world, path)).text);

test('a batch of one symbol, and of several', async () => {
  const fields = ['quote', 'news', 'chart'];
  const one = await client.batch({ symbols: 'S100', fields, range: '5d', last: 2 });
  const types = 'types=quote,news,chart&range=5d&last=2';
  assert.deepEqual(one, await answered(`/S100/batch?${types}`));
  const several = await client.batch({ symbols: ['S100', 'S101'], fields, range: '5d', last: 2 });
  assert.deepEqual(several, await answered(`/market/batch?symbols=S100,S101&${types}`));
});

test('types alone', async () => {
  const symbol = 'S100';
  for (const [method, options, path] of [
    ['quote', {}, '/S100/quote'],
    ['previous', {}, '/S100/previous'],
    ['chart', { range: '5d' }, '/S100/chart?range=5d'],
    ['news', { last: 3 }, '/S100/news?last=3'],
  ] as const) {
    const clientMethod = client[method];
    assert.ok(clientMethod !== undefined, method);
    assert.deepEqual(
      await clientMethod.call(client, { symbol, ...options }),
      await answered(path),
      method,
    );
  }
  // The client returns the records without their object.
  const earningsMethod = client['earnings'];
  const earnings = await earningsMethod?.call(client, { symbol, last: 2 });
  assert.deepEqual({ symbol, earnings }, await answered('/S100/earnings?last=2'));
});
