// One price of a query: the estimate, the value compared with "maxMessages", and the charge.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { openShop, type Shop, WEIGHTS } from '../../../soak/fuzz/licence/shop.ts';
import { loaded } from '../../../base/client.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop(7);
  const long = 'x'.repeat(3_000);
  const rows = Array.from({ length: 400 }, (_, at) => `K${at % 20},2024-01-01,${long},${at}`);
  const csv = ['symbol,date,note,v', ...rows, ''].join('\n');
  await loaded(shop.server, 'LONG', csv);
});
afterAll(() => shop[Symbol.asyncDispose]());

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly messages: number;
}

async function ask(path: string, sql: string, token: string, query = ''): Promise<Answered> {
  const url = `${shop.server.base}/v1/sql-query/${path}?token=${token}${query}`;
  const answer = await fetch(url, { method: 'POST', body: sql });
  const text = await answer.text();
  const messages = Number(answer.headers.get('svccloud-messages-used') ?? Number.NaN);
  return { status: answer.status, text, messages };
}

const priceOf = ({ text }: Answered): number =>
  (JSON.parse(text) as { readonly messages: number }).messages;

/** Asserts that a query costs its estimate, and that a limit of one message less refuses it. */
async function assertPrice(
  path: string,
  sql: string,
  token: string,
  price: number,
  query = '',
): Promise<void> {
  const estimated = await ask(path, sql, token, `&estimate=true${query}`);
  assert.equal(priceOf(estimated), price, estimated.text);
  const explained = await ask(path, sql, token, '&explain=true');
  const { estimate } = JSON.parse(explained.text) as { estimate: { messages: number } };
  assert.equal(estimate.messages, price, explained.text);
  const dear = await ask(path, sql, token, `&maxMessages=${price - 1}${query}`);
  assert.equal(dear.status, 402, dear.text);
  const paid = await ask(path, sql, token, `&maxMessages=${price}${query}`);
  assert.deepEqual([paid.status, paid.messages], [200, price], paid.text);
}

describe('LIMIT 10 is ten rows, with texts of any length', () => {
  for (const [what, sql] of [
    ['all columns', 'SELECT * FROM LONG LIMIT 10'],
    ['a text of a sub-select', 'SELECT n FROM (SELECT note AS n FROM LONG) AS s LIMIT 10'],
    ['a text made of one record', "SELECT upper(symbol) || ' ' || note AS t FROM LONG LIMIT 10"],
    ['a common table', 'WITH c AS (SELECT note FROM LONG) SELECT * FROM c LIMIT 10'],
    ['the greatest text', 'SELECT symbol, max(note) AS m FROM LONG GROUP BY symbol LIMIT 10'],
  ] as const) {
    test(what, async () => {
      for (const format of ['json', 'csv', 'arrow']) {
        await assertPrice('WS', sql, shop.server.secret, 10, `&format=${format}`);
      }
    });
  }
});

test('aggregated texts cost their bytes, and are refused by their cost', async () => {
  const sql = "SELECT string_agg(symbol || ':' || v, ',') AS all FROM LONG".replace(' all ', ' a ');
  const paid = await ask('WS', sql, shop.server.secret);
  assert.equal(paid.messages, Math.ceil(Buffer.byteLength(paid.text) / 1_000));
  assert.ok(paid.messages > 1);
  const dear = await ask('WS', sql, shop.server.secret, `&maxMessages=${paid.messages - 1}`);
  assert.equal(dear.status, 402);
  const fits = await ask('WS', sql, shop.server.secret, `&maxMessages=${paid.messages}`);
  assert.deepEqual([fits.status, fits.messages], [200, paid.messages]);
});

test('over data of others a price names the records of a whole unique index', async () => {
  const one = "SELECT close FROM CORE.BARS WHERE symbol = 'AA' AND date = DATE '2024-01-03'";
  await assertPrice('SHOP', one, shop.token, WEIGHTS.BARS);
  const folded = one.replace('close', 'max(close) AS m').replace("= 'AA'", "IN ('AA', 'BB', 'AA')");
  await assertPrice('SHOP', folded, shop.token, WEIGHTS.BARS * 2);
});

test('data of others that are sold by the answer cost its rows', async () => {
  const sql = 'SELECT symbol, date, note FROM CORE.OPEN LIMIT 10';
  await assertPrice('SHOP', sql, shop.token, WEIGHTS.OPEN * 10);
});

test('a refusal after the read costs the time of a failed query', async () => {
  const { failedTime } = shop.server.tapedeck.services;
  const { spent } = failedTime;
  const times: number[] = [];
  Object.assign(failedTime, { spent: (_account: string, ms: number) => times.push(ms) });
  try {
    const sql = 'SELECT * FROM LONG LIMIT 10';
    await ask('WS', sql, shop.server.secret, '&maxMessages=10');
    assert.deepEqual(times, []);
    await ask('WS', sql, shop.server.secret, '&maxMessages=9');
    assert.ok(times.length === 1 && (times[0] ?? 0) > 0, String(times));
  } finally {
    Object.assign(failedTime, { spent });
  }
});
