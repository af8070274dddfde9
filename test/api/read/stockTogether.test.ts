// Many symbols of a batch, read together: each is answered what it is answered alone, and an answer that is
// too long to be copied comes whole.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { DuckDbPool } from '../../../store/duckdb/pool.ts';
import { askStock, loadCore, openStockWorld, type StockWorld, SYMBOLS } from './stockCore.ts';

let world: StockWorld;
beforeAll(async () => {
  world = await openStockWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const SOME = ['S100', 'S101', 'S107', 'NONE', 'S219'];

/** Questions to the processes that read files, while something is asked. */
async function questionsOf(work: () => Promise<unknown>): Promise<number> {
  const { body, pages } = DuckDbPool.prototype;
  let asked = 0;
  DuckDbPool.prototype.body = function count(...given) {
    asked += 1;
    return body.apply(this, given);
  };
  DuckDbPool.prototype.pages = function count(...given) {
    asked += 1;
    return pages.apply(this, given);
  };
  await work().finally(() => Object.assign(DuckDbPool.prototype, { body, pages }));
  return asked;
}

async function alone(symbol: string, type: string, query: string): Promise<string | undefined> {
  const { status, text } = await askStock(world, `/${symbol}/batch?types=${type}&${query}`);
  return status === 200 ? text : undefined;
}

for (const [type, query] of [
  ['quote', ''],
  ['quote', 'filter=exact'],
  ['news', 'last=3'],
  ['news', 'last=3&sort=asc'],
  ['news', 'from=2024-02-03&to=2024-02-05&filter=headline'],
  ['earnings', ''],
] as const) {
  test(`${type}?${query} of symbols together is what each of them is answered alone`, async () => {
    const answers = new Map<string, string>();
    for (const symbol of SOME) {
      const text = await alone(symbol, type, `${query}&cache=false`);
      if (text !== undefined) answers.set(symbol, text);
    }
    assert.ok(answers.size > 1, 'several symbols are known');
    const path = `/market/batch?symbols=${SOME.join()}&types=${type}&${query}`;
    const members = [...answers].map(([symbol, text]) => `${JSON.stringify(symbol)}:${text}`);
    // As it is stored, then as memory takes it in, then from memory.
    for (const how of ['&cache=false', '', '', '']) {
      const { status, text } = await askStock(world, path + how);
      assert.equal(status, 200, text);
      assert.equal(text, `{${members.join()}}`, how);
    }
  });
}

test('a hundred symbols that nobody asked for are one question to the files', async () => {
  const path = `/market/batch?symbols=${SYMBOLS.slice(0, 100).join()}&types=quote&cache=false`;
  assert.equal(await questionsOf(() => askStock(world, path)), 1);
});

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
  // What the file does not have is null.
  const withValues = (_: string, value: unknown): unknown => value ?? undefined;
  assert.deepEqual(JSON.parse(text, withValues), expected);
  const length = Buffer.byteLength(text);
  assert.ok(length > 1024 ** 2);
  assert.deepEqual([Number(headers.get('content-length')), messages], [length, 100]);
  const script = await askStock(world, `${path}&callback=take`);
  assert.ok(script.text.includes(`take(${text})`), script.text.slice(0, 100));
});
