// The price of other accounts' data, call by call; test/soak/fuzz/licence tries to pay less.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { verifyLedger } from '../../../jobs/upkeep/verifyLedger.ts';
import { ask, askSql, openShop, type Shop } from '../../soak/fuzz/licence/shop.ts';

const RECORDS = 96;
const DAYS = 12;
const WEIGHT = 3;

let shop: Shop;
beforeAll(async () => {
  shop = await openShop(20_260_131);
});
afterAll(() => shop[Symbol.asyncDispose]());

const used = async (sql: string): Promise<number> => {
  const { body, status, used: messages } = await askSql(shop, sql);
  assert.equal(status, 200, body);
  return messages;
};

test('rows where a row holds one record, records where the answer aggregates them', async () => {
  assert.equal(await used('SELECT close FROM CORE.BARS LIMIT 5'), 5 * WEIGHT);
  assert.equal(await used('SELECT avg(close) AS v FROM CORE.BARS'), RECORDS * WEIGHT);
  const one = "FROM CORE.BARS WHERE symbol = 'AA'";
  assert.equal(await used(`SELECT avg(close) AS v ${one}`), DAYS * WEIGHT);
  assert.equal(await used(`SELECT avg(close) AS v ${one} AND close > 500`), DAYS * WEIGHT);
  assert.equal(
    await used(`SELECT string_agg(note) AS v ${one} AND date < '2024-01-04'`),
    2 * WEIGHT,
  );
  assert.equal(await used("SELECT avg(twice) AS v FROM NESTED WHERE symbol = 'AA'"), DAYS * WEIGHT);
  assert.equal(await used("SELECT mean FROM MEANS WHERE symbol = 'AA'"), DAYS * WEIGHT);
});

test('each dataset has a line of its own, and its own weight', async () => {
  const sql = `SELECT max(b.close) AS v, max(r.stars) AS s FROM CORE.BARS b JOIN CORE.RATINGS r USING (symbol)
    WHERE symbol = 'BB'`;
  assert.equal(await used(sql), DAYS * WEIGHT + 7);
  const { body } = await ask(shop, '/account/usage/calls');
  const lines = JSON.parse(body) as readonly { key: string; objects: number; weight: number }[];
  const usageLines = lines.map(({ key, objects, weight }) => `${key} ${objects} x ${weight}`);
  assert.ok(
    usageLines.includes('CORE.BARS 12 x 3') && usageLines.includes('CORE.RATINGS 1 x 7'),
    usageLines.join(),
  );
});

test('an owner may charge by the answer', async () => {
  const sell = async (sqlPrice: string): Promise<void> => {
    const { base, secret } = shop.server;
    const answer = await fetch(`${base}/v1/datasets/CORE/BARS?token=${secret}`, {
      method: 'PATCH',
      body: JSON.stringify({ access: { level: 'open', sqlPrice } }),
    });
    assert.equal(answer.status, 200, await answer.text());
    const datasetAnswer = await fetch(`${base}/v1/datasets/CORE/BARS?token=${secret}`);
    const { access } = (await datasetAnswer.json()) as { readonly access: unknown };
    assert.deepEqual(access, { level: 'open', sqlPrice });
  };
  await sell('answer');
  assert.equal(await used('SELECT avg(close) AS v FROM CORE.BARS'), WEIGHT);
  assert.equal(await used('SELECT close FROM CORE.BARS WHERE close < 0'), WEIGHT);
  await sell('records');
  assert.equal(await used('SELECT avg(close) AS v FROM CORE.BARS'), RECORDS * WEIGHT);
});

test('HEAD reads nothing and has no length, but the tag of the answer to GET', async () => {
  for (const path of ['/data/CORE/BARS/AA?last=3', '/data/SHOP/MINE/AA?last=3']) {
    const head = await ask(shop, path, { method: 'HEAD' });
    const get = await ask(shop, path);
    assert.deepEqual([head.status, head.used, head.body], [200, 0, '']);
    assert.equal(head.headers.get('content-length'), null);
    assert.equal(head.headers.get('etag'), get.headers.get('etag'));
    assert.equal(head.headers.get('content-type'), get.headers.get('content-type'));
    assert.equal(get.used, 3 * WEIGHT);
  }
});

test('a failure that records may have caused costs one message, a wrong name nothing', async () => {
  const cast = await askSql(shop, 'SELECT CAST(note AS INTEGER) AS v FROM CORE.BARS');
  assert.deepEqual([cast.status, cast.used], [400, WEIGHT]);
  const typo = await askSql(shop, 'SELECT closing FROM CORE.BARS');
  assert.deepEqual([typo.status, typo.headers.get('svccloud-messages-used')], [400, null]);
  const own = await askSql(shop, "SELECT CAST('x' || n AS INTEGER) AS v FROM NUMS");
  assert.deepEqual([own.status, own.headers.get('svccloud-messages-used')], [400, null]);
});

test('an empty answer from the index alone is free, one from values is not', async () => {
  const none = await ask(shop, '/data/CORE/BARS/NONE?last=3');
  assert.deepEqual([none.body, none.used], ['[]', 0]);
  const value = await ask(shop, '/data/CORE/BARS/AA?last=3&subattribute=close%7C-1');
  assert.deepEqual([value.body, value.used], ['[]', WEIGHT]);
  const day = '/data/CORE/BARS/AA?from=2024-01-01&to=2024-01-31';
  assert.equal((await ask(shop, `${day}&collapse=monthly%7Clast`)).used, WEIGHT);
  assert.equal((await ask(shop, `${day}&collapse=monthly%7Csum`)).used, DAYS * WEIGHT);
  assert.equal((await ask(shop, `${day}&transform=cumul&last=1`)).used, DAYS * WEIGHT);
});

test('a quota below the cost of an answer pays its minimum, and never the last messages', async () => {
  await using small = await openShop(1);
  const { accounts, journal, ledger } = small.server.tapedeck.services;
  const customer = accounts.list().find(({ name }) => name === 'customer');
  assert.ok(customer !== undefined);
  const { accountId } = customer;
  await accounts.changeAccount(accountId, { payAsYouGo: false, budget: 2 * WEIGHT + 1 });
  const dear = 'SELECT avg(close) AS v FROM CORE.BARS';
  const answers = [];
  for (let time = 0; time < 3; time += 1) answers.push(await askSql(small, dear));
  assert.deepEqual(
    answers.map((one) => [one.status, one.used]),
    [
      [402, WEIGHT],
      [402, 0],
      [402, 0],
    ],
  );
  const last = await askSql(small, "SELECT close FROM CORE.BARS WHERE symbol = 'AA' LIMIT 1");
  assert.deepEqual([last.status, last.used], [200, WEIGHT], 'they buy an answer');
  await ledger.flush();
  assert.deepEqual(ledger.balance(accountId), { used: 2 * WEIGHT, held: 0 });
  assert.deepEqual((await verifyLedger(journal)).faults, []);
});
