import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'vitest';
import { get, loaded, read } from '../../base/client.ts';
import { startServer } from '../../base/server.ts';

const row = (symbol: string, day: number, close: number): object => ({
  symbol,
  date: `2024-01-${String(day).padStart(2, '0')}`,
  close,
});

test('a load evicts the series of its own keys, and no others', async () => {
  await using server = await startServer({ seams: { watch: false } });
  const index = { key: 'symbol', date: 'date', duplicateKeyHandling: 'replace' };
  const rows = ['A', 'K', 'Z'].map((symbol) => row(symbol, 1, 1));
  await loaded(server, 'PRICES', JSON.stringify(rows), index);
  const { cache } = server.tapedeck.services.series;
  const fromMemory = async (key: string): Promise<boolean> => {
    const { hits } = cache.state();
    await read(server, `/data/WS/PRICES/${key}?range=max`);
    return cache.state().hits > hits;
  };
  for (const key of ['A', 'K', 'Z', 'A', 'K', 'Z']) await fromMemory(key);
  await loaded(server, 'PRICES', JSON.stringify([row('J', 2, 3), row('K', 2, 3)]), index);
  const cacheHits = { A: await fromMemory('A'), Z: await fromMemory('Z') };
  assert.deepEqual(cacheHits, { A: true, Z: true });
  assert.equal(cache.state().series, 2);
  assert.match(await read(server, '/data/WS/PRICES/K?range=max'), /^\[.*"close":3.*"close":1/);
});

test('an answer as a file leaves no file behind, also when it fails', async () => {
  await using server = await startServer();
  const rows = Array.from({ length: 300 }, (_, at) => row('A', (at % 28) + 1, at));
  await loaded(server, 'PRICES', JSON.stringify(rows));
  const { series, folder } = server.tapedeck.services;
  const answer = await get(server, '/data/WS/PRICES?range=max&format=parquet');
  assert.equal(answer.status, 200);
  await series.pool.close();
  const failed = await get(server, '/data/WS/PRICES?range=max&format=parquet');
  assert.equal(failed.status, 503);
  assert.deepEqual(await readdir(folder.temporary), []);
});
