// The memory of a load outside V8's heap: above a number of its bytes V8 collects everything, and all
// callers wait.
import assert from 'node:assert/strict';
import { getHeapStatistics } from 'node:v8';
import { test } from 'vitest';
import { loaded } from '../base/client.ts';
import { startServer } from '../base/server.ts';

const LOADS = 20;
/** For one load. With pieces of the size for large files every load, even a small one, took 2,000 kB. */
const MOST_BYTES = 300_000;

const readExternalMemory = (): number => getHeapStatistics().external_memory;

test('a load of few bytes takes little memory outside the heap', async () => {
  await using server = await startServer({ seams: { watch: false } });
  const mapping = { key: 'symbol', date: 'date' };
  const one = (at: number): Promise<unknown> =>
    loaded(server, 'D', `symbol,date,close\nA,2020-01-${String(10 + at)},${at}.5\n`, mapping);
  await one(0);
  let bytes = 0;
  for (let at = 1; at <= LOADS; at += 1) {
    const before = readExternalMemory();
    await one(at % 20);
    // If V8 collected in the meantime, the value is less than before.
    bytes += Math.max(0, readExternalMemory() - before);
  }
  const each = Math.round(bytes / LOADS);
  assert.ok(each < MOST_BYTES, `${each} bytes for each load`);
});
