// Many symbols of a batch, read together: each answer equals the answer of the symbol alone, and an answer
// that is too long to be copied is complete.
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

/** Counts queries of the processes that read files during `work`. */
async function questionsOf(work: () => Promise<unknown>): Promise<number> {
  const { body, pages } = DuckDbPool.prototype;
  let questionCount = 0;
  DuckDbPool.prototype.body = function count(...args) {
    questionCount += 1;
    return body.apply(this, args);
  };
  DuckDbPool.prototype.pages = function count(...args) {
    questionCount += 1;
    return pages.apply(this, args);
  };
  await work().finally(() => Object.assign(DuckDbPool.prototype, { body, pages }));
  return questionCount;
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
  test(`${type}?${query} of symbols together equals their answers alone`, async () => {
    const answers = new Map<string, string>();
    for (const symbol of SOME) {
      const text = await alone(symbol, type, `${query}&cache=false`);
      if (text !== undefined) answers.set(symbol, text);
    }
    assert.ok(answers.size > 1, 'several symbols are known');
    const path = `/market/batch?symbols=${SOME.join()}&types=${type}&${query}`;
    const members = [...answers].map(([symbol, text]) => `${JSON.stringify(symbol)}:${text}`);
    // From the files, then as it is cached, then from memory.
    for (const how of ['&cache=false', '', '', '']) {
      const { status, text } = await askStock(world, path + how);
      assert.equal(status, 200, text);
      assert.equal(text, `{${members.join()}}`, how);
    }
  });
}

test('a hundred uncached symbols are one query of the files', async () => {
  const path = `/market/batch?symbols=${SYMBOLS.slice(0, 100).join()}&types=quote&cache=false`;
  assert.equal(await questionsOf(() => askStock(world, path)), 1);
});

test('an answer over a megabyte is complete, at its price, and also as a script', async () => {
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
  // Missing values of the file are null.
  const withValues = (_: string, value: unknown): unknown => value ?? undefined;
  assert.deepEqual(JSON.parse(text, withValues), expected);
  const length = Buffer.byteLength(text);
  assert.ok(length > 1024 ** 2);
  assert.deepEqual([Number(headers.get('content-length')), messages], [length, 100]);
  const script = await askStock(world, `${path}&callback=take`);
  assert.ok(script.text.includes(`take(${text})`), script.text.slice(0, 100));
});
