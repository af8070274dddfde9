// Bad input at the stock endpoints: symbols, types and every parameter. An illegal value is refused with a
// sentence that names it, or is an unknown symbol; nothing fails, and nothing is echoed in a header.
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

/** A refusal is one of those of the endpoint, and names the parameter if one caused it. */
function judge(text: string, name: string, answer: Answered): void {
  const context = shownAs(text, answer);
  assert.equal(answer.headers.get('x-injected'), null, context);
  if (answer.status === 200) return;
  assert.equal(answer.messages, 0, context);
  const sentences: Readonly<Record<string, number>> = {
    'Unknown symbol': 404,
    'Not Found': 404,
    'No symbol provided': 400,
    'A valid value of types is required': 400,
    'Maximum of 10 types allowed': 413,
  };
  if (sentences[answer.text] === answer.status) return;
  if (name === 'maxMessages' && answer.status === 402) return;
  assert.equal(answer.status, 400, context);
  assert.ok(answer.text.startsWith(`{"error":"\\"${name}\\" `), context);
  assert.ok(answer.text.length < 600, context);
}

/** The client's own path normalization removes these. */
const inPath = TEXTS.filter((text) => !/^(|\.|\.\.)$/.test(text));

test('a symbol of any text is known or unknown', async () => {
  await askAll(inPath, async (text) => {
    const symbol = encodeURIComponent(text);
    for (const path of [
      `/${symbol}/quote`,
      `/${symbol}/chart`,
      `/${symbol}/batch?types=quote,news`,
    ]) {
      const answer = await askStock(world, path);
      judge(text, '', answer);
      assert.notEqual(answer.status, 200, shownAs(text, answer));
    }
  });
});

test('among several symbols any text is known, dropped, or too long', async () => {
  await askAll(TEXTS, async (text) => {
    const symbols = encodeURIComponent(`S100,${text},S101`);
    const answer = await askStock(
      world,
      `/market/batch?types=quote&filter=price&symbols=${symbols}`,
    );
    judge(text, 'symbols', answer);
    if (answer.status !== 200) return;
    assert.equal(answer.text, '{"S100":{"quote":{"price":0.25}},"S101":{"quote":{"price":1.25}}}');
    assert.equal(answer.messages, 2);
  });
});

test('a type of any text is one of the table, or none', async () => {
  await askAll(TEXTS, async (text) => {
    const types = encodeURIComponent(`${text},quote`);
    const answer = await askStock(world, `/S100/batch?filter=price&types=${types}`);
    judge(text, 'types', answer);
    if (answer.status === 200) assert.equal(answer.text, '{"quote":{"price":0.25}}');
    if (text === '' || inPath.indexOf(text) < 0) return;
    const alone = await askStock(world, `/S100/${encodeURIComponent(text)}`);
    judge(text, 'types', alone);
    assert.notEqual(alone.status, 200, shownAs(text, alone));
  });
});

test('for any value of a parameter, the answer has its records or names it', async () => {
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

test('a repeated parameter is refused with its name, and so is an unknown one', async () => {
  for (const { name } of stockBatch.parameters) {
    const types = name === 'types' ? '' : 'types=quote&';
    const answer = await askStock(world, `/market/batch?${types}${name}=1&${name}=1`);
    assert.deepEqual(
      [answer.status, answer.text],
      [400, JSON.stringify({ error: `"${name}" must be given once` })],
    );
  }
  for (const name of ['__proto__', 'constructor', 'Types', 'symbol', 'queryId', 'schema']) {
    for (const path of ['/S100/batch?types=quote', '/S100/quote?format=json']) {
      const answer = await askStock(world, `${path}&${encodeURIComponent(name)}=1`);
      assert.deepEqual(
        [answer.status, answer.text],
        [400, JSON.stringify({ error: `"${name}" is not allowed` })],
      );
    }
  }
});

test('symbols of 8 KB, and very many of them, are refused with the name of the parameter', async () => {
  for (const symbols of ['A'.repeat(8_192), 'é'.repeat(8_192), 'A,'.repeat(4_096)]) {
    const path = `/market/batch?types=quote&symbols=${encodeURIComponent(symbols)}`;
    const answer = await askStock(world, path);
    const error = '"symbols" must have at most 4096 characters';
    assert.deepEqual([answer.status, answer.text], [400, JSON.stringify({ error })]);
  }
  const long = await askStock(world, `/${'A'.repeat(8_192)}/quote`);
  assert.deepEqual([long.status, long.text], [404, 'Unknown symbol']);
});

test('nothing was harmed', async () => {
  const { text } = await askStock(world, '/S100/quote?filter=price');
  assert.equal(text, '{"price":0.25}');
});
