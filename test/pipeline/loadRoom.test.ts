// What a load takes beside V8's heap: it collects everything after so many bytes of it, whoever waits.
import assert from 'node:assert/strict';
import { getHeapStatistics } from 'node:v8';
import { test } from 'vitest';
import { loaded } from '../base/client.ts';
import { startServer } from '../base/server.ts';

const LOADS = 20;
/** Of one; pieces of files that were as large as a large file's took 2,000 kB, whatever came. */
const MOST_BYTES = 300_000;

const taken = (): number => getHeapStatistics().external_memory;

test('a load of few bytes takes little room beside the heap', async () => {
  await using server = await startServer({ seams: { watch: false } });
  const mapping = { key: 'symbol', date: 'date' };
  const one = (at: number): Promise<unknown> =>
    loaded(server, 'D', `symbol,date,close\nA,2020-01-${String(10 + at)},${at}.5\n`, mapping);
  await one(0);
  let bytes = 0;
  for (let at = 1; at <= LOADS; at += 1) {
    const before = taken();
    await one(at % 20);
    // Where V8 collected meanwhile there is less than before.
    bytes += Math.max(0, taken() - before);
  }
  const each = Math.round(bytes / LOADS);
  assert.ok(each < MOST_BYTES, `${each} bytes for each load`);
});
