// Bad input at the stock door: symbols, types and every parameter. What is not legal is refused with a
// sentence that names it, or is no symbol; nothing fails, and nothing comes back in a header.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { stockBatch } from '../../../../api/endpoints/read/stock.ts';
import { HOSTILE_TEXTS } from '../../../soak/fuzz/http/hostile.ts';
import { type Answered, askStock, openStockWorld, type StockWorld } from '../stockCore.ts';

const AT_ONCE = 8;
const TEXTS = [
  ...new Set(HOSTILE_TEXTS.map((text) => text.toWellFormed())),

  'S100\u0000',
  '\u0000S100',
  'market\u0000',
  'ｓ１００',
  'S100;',
  'S100%00',
  'MARKET ',
  'batch',
];

let world: StockWorld;
beforeAll(async () => {
  world = await openStockWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

async function askAll(
  texts: readonly string[],
  one: (text: string) => Promise<void>,
): Promise<void> {
  const waiting = [...texts];
  const work = async (): Promise<void> => {
    for (let text = waiting.shift(); text !== undefined; text = waiting.shift()) await one(text);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

const shownAs = (text: string, { status, text: body }: Answered): string =>
  `${JSON.stringify(text.slice(0, 80))}: ${status} ${body.slice(0, 300)}`;

/** A refusal is one of those that the door has, and names the parameter where it is one's. */
function judge(text: string, name: string, told: Answered): void {
  const shown = shownAs(text, told);
  assert.equal(told.headers.get('x-injected'), null, shown);
  if (told.status === 200) return;
  assert.equal(told.messages, 0, shown);
  const sentences: Readonly<Record<string, number>> = {
    'Unknown symbol': 404,
    'Not Found': 404,
    'No symbol provided': 400,
    'A valid value of types is required': 400,
    'Maximum of 10 types allowed': 413,
  };
  if (sentences[told.text] === told.status) return;
  if (name === 'maxMessages' && told.status === 402) return;
  assert.equal(told.status, 400, shown);
  assert.ok(told.text.startsWith(`{"error":"\\"${name}\\" `), shown);
  assert.ok(told.text.length < 600, shown);
}

/** A client's own path arithmetic takes these away. */
const inPath = TEXTS.filter((text) => !/^(|\.|\.\.)$/.test(text));

test('a symbol of any text is known or unknown', async () => {
  await askAll(inPath, async (text) => {
    const symbol = encodeURIComponent(text);
    for (const path of [
      `/${symbol}/quote`,
      `/${symbol}/chart`,
      `/${symbol}/batch?types=quote,news`,
    ]) {
      const told = await askStock(world, path);
      judge(text, '', told);
      assert.notEqual(told.status, 200, shownAs(text, told));
    }
  });
});

test('among several symbols any text is known, dropped, or too long', async () => {
  await askAll(TEXTS, async (text) => {
    const symbols = encodeURIComponent(`S100,${text},S101`);
    const told = await askStock(world, `/market/batch?types=quote&filter=price&symbols=${symbols}`);
    judge(text, 'symbols', told);
    if (told.status !== 200) return;
    assert.equal(told.text, '{"S100":{"quote":{"price":0.25}},"S101":{"quote":{"price":1.25}}}');
    assert.equal(told.messages, 2);
  });
});

test('a type of any text is one of the table, or none', async () => {
  await askAll(TEXTS, async (text) => {
    const types = encodeURIComponent(`${text},quote`);
    const told = await askStock(world, `/S100/batch?filter=price&types=${types}`);
    judge(text, 'types', told);
    if (told.status === 200) assert.equal(told.text, '{"quote":{"price":0.25}}');
    if (text === '' || inPath.indexOf(text) < 0) return;
    const alone = await askStock(world, `/S100/${encodeURIComponent(text)}`);
    judge(text, 'types', alone);
    assert.notEqual(alone.status, 200, shownAs(text, alone));
  });
});

test('whatever a parameter is given, the answer is its records or its name', async () => {
  for (const { name } of stockBatch.parameters) {
    if (name === 'types' || name === 'symbols') continue;
    await askAll(TEXTS, async (text) => {
      const query = `${name}=${encodeURIComponent(text)}`;
      judge(
        text,
        name,
        await askStock(world, `/S100/batch?types=quote,chart,news,earnings&${query}`),
      );
    });
  }
});

test('a parameter that is given twice is refused by its name, and so is an unknown one', async () => {
  for (const { name } of stockBatch.parameters) {
    const types = name === 'types' ? '' : 'types=quote&';
    const told = await askStock(world, `/market/batch?${types}${name}=1&${name}=1`);
    assert.deepEqual(
      [told.status, told.text],
      [400, JSON.stringify({ error: `"${name}" must be given once` })],
    );
  }
  for (const name of ['__proto__', 'constructor', 'Types', 'symbol', 'queryId', 'schema']) {
    for (const path of ['/S100/batch?types=quote', '/S100/quote?format=json']) {
      const told = await askStock(world, `${path}&${encodeURIComponent(name)}=1`);
      assert.deepEqual(
        [told.status, told.text],
        [400, JSON.stringify({ error: `"${name}" is not allowed` })],
      );
    }
  }
});

test('symbols of 8 KB, and very many of them, are refused by their name', async () => {
  for (const symbols of ['A'.repeat(8_192), 'é'.repeat(8_192), 'A,'.repeat(4_096)]) {
    const path = `/market/batch?types=quote&symbols=${encodeURIComponent(symbols)}`;
    const told = await askStock(world, path);
    const error = '"symbols" must have at most 4096 characters';
    assert.deepEqual([told.status, told.text], [400, JSON.stringify({ error })]);
  }
  const long = await askStock(world, `/${'A'.repeat(8_192)}/quote`);
  assert.deepEqual([long.status, long.text], [404, 'Unknown symbol']);
});

test('nothing was harmed', async () => {
  const { text } = await askStock(world, '/S100/quote?filter=price');
  assert.equal(text, '{"price":0.25}');
});
