// Many symbols of a batch, read together: each is answered what it is answered alone, and an answer that is
// too long to be copied comes whole.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { askStock, loadCore, openStockWorld, type StockWorld, SYMBOLS } from './stockCore.ts';

let world: StockWorld;
beforeAll(async () => {
  world = await openStockWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test('an answer over a megabyte comes whole, at its price, and as a script', async () => {
  const csv = SYMBOLS.map((symbol, at) => `${symbol},2024-02-28,${`${at}é`.repeat(5_000)}`);
  await loadCore(world, 'COMPANY', `symbol,date,description\n${csv.join('\n')}\n`);
  const symbols = SYMBOLS.slice(0, 100);
  const expected = Object.fromEntries(
    symbols.map((symbol, at) => [
      symbol,
      { company: { symbol, date: '2024-02-28', description: `${at}é`.repeat(5_000) } },
    ]),
  );
  const path = `/market/batch?symbols=${symbols.join()}&types=company`;
  const { headers, messages, text } = await askStock(world, path);
  assert.deepEqual(JSON.parse(text), expected);
  const length = Buffer.byteLength(text);
  assert.ok(length > 1024 ** 2);
  assert.deepEqual([Number(headers.get('content-length')), messages], [length, 100]);
  const script = await askStock(world, `${path}&callback=take`);
  assert.ok(script.text.includes(`take(${text})`), script.text.slice(0, 100));
});
