// Cases of the stock endpoints beyond transcripts: many symbols, sums of prices, the effects of a failure.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, test } from 'vitest';
import { STOCK_TYPES } from '../../../reads/stock/stockTypes.ts';
import { verifyLedger } from '../../../jobs/upkeep/verifyLedger.ts';
import {
  askStock,
  changeDataset,
  loadCore,
  openStockWorld,
  type StockWorld,
  SYMBOLS,
  withNewReader,
} from './stockCore.ts';

let world: StockWorld;
beforeAll(async () => {
  world = await openStockWorld();
});
beforeEach(async () => {
  world = await withNewReader(world);
});
afterAll(() => world[Symbol.asyncDispose]());

type Json = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const jsonOf = (text: string): Json => JSON.parse(text) as Json;

const used = (): { readonly used: number; readonly held: number } =>
  world.server.tapedeck.services.ledger.balance(world.accountId);

test('the first 100 symbols are answered, each once, in their order', async () => {
  const names = ['s101', 'S101', ...SYMBOLS.slice(2), 'S100'].join(',');
  const { text, messages } = await askStock(world, `/market/batch?symbols=${names}&types=quote`);
  assert.deepEqual(Object.keys(jsonOf(text)), ['S101', ...SYMBOLS.slice(2, 101)]);
  assert.equal(messages, 100);
});

test('a batch returns the answers of its types alone, at the sum of their prices', async () => {
  const weights = { QUOTE: 1, HISTORICAL_PRICES: 2, NEWS: 5, EARNINGS: 1_000 };
  for (const [dataset, weight] of Object.entries(weights)) {
    await changeDataset(world, dataset, { weight });
  }
  const types = ['quote', 'previous', 'chart', 'historical-prices', 'news', 'earnings'];
  const symbols = ['S100', 'S101', 'S102'];
  let sum = 0;
  const expected: Record<string, Record<string, unknown>> = {};
  for (const symbol of symbols) {
    for (const type of types) {
      const { status, text, messages } = await askStock(world, `/${symbol}/${type}`);
      assert.equal(status, 200, text);
      (expected[symbol] ??= {})[type] = JSON.parse(text);
      sum += messages;
    }
  }
  const path = `/market/batch?symbols=${symbols.join(',')}&types=${types.join(',')}`;
  const estimate = await askStock(world, `${path}&estimate=true`);
  // From the files, then into memory, then from memory.
  for (let time = 0; time < 3; time += 1) {
    const { text, messages } = await askStock(world, path);
    assert.deepEqual(jsonOf(text), expected);
    assert.equal(messages, sum);
  }
  // An estimate for other accounts' data uses only the statistics of the catalog.
  assert.ok(Number(jsonOf(estimate.text)['messages']) >= sum);
  assert.equal(estimate.messages, 0);
  for (const symbol of symbols) {
    const { text } = await askStock(world, `/${symbol}/batch?types=${types.join(',')}`);
    assert.deepEqual(jsonOf(text), expected[symbol]);
  }
});

test('each type of a batch has its own line, and the ledger agrees with all of them', async () => {
  const { accountId, server } = world;
  const { accounts, ledger } = server.tapedeck.services;
  const secret = (await accounts.createToken(accountId, 'secret')).text;
  const { messages } = await askStock(world, '/S100/batch?types=quote,chart,previous,news');
  assert.equal(messages, 1 + 3 + 2 + 10);
  const answer = await fetch(`${server.base}/v1/account/usage/calls?token=${secret}`);
  const lines = (await answer.json()) as readonly {
    readonly key: string;
    readonly objects: number;
    readonly endpoint: string;
  }[];
  assert.deepEqual(lines.map(({ key, objects }) => `${key} ${objects}`).toSorted(), [
    'CORE.HISTORICAL_PRICES 3',
    'CORE.NEWS 10',
    'CORE.QUOTE 1',
    'PREVIOUS 1',
  ]);
  assert.deepEqual([...new Set(lines.map(({ endpoint }) => endpoint))], ['getStockBatch']);
  await ledger.flush();
  assert.deepEqual(used(), { used: 16, held: 0 });
  assert.deepEqual((await verifyLedger(server.tapedeck.services.journal)).faults, []);
});

test('a batch that fails in a later type charges the minimum of the earlier ones, or nothing', async () => {
  const path = '/S100/batch?types=quote,chart,news';
  const dear = await askStock(world, `${path}&maxMessages=13`);
  assert.deepEqual(
    [dear.status, dear.text],
    [402, '"maxMessages" is 13, and the datasets cost more'],
  );
  const wrong = await askStock(world, `${path}&range=nonsense`);
  assert.equal(wrong.status, 400);
  const unknown = await askStock(world, '/NONE/batch?types=quote,chart,news');
  assert.deepEqual([unknown.status, unknown.text], [404, 'Unknown symbol']);
  const { accounts, ledger } = world.server.tapedeck.services;
  await accounts.changeAccount(world.accountId, { payAsYouGo: false, budget: 13 });
  const over = await askStock(world, path);
  assert.equal(over.status, 402, over.text);
  for (const { headers } of [dear, wrong, unknown]) {
    assert.equal(headers.get('svccloud-messages-used'), null);
  }
  // A budget refusal reveals something about the records: each type that was read costs its minimum.
  assert.equal(over.headers.get('svccloud-messages-used'), '3');
  await ledger.flush();
  assert.deepEqual(used(), { used: 3, held: 0 });
  assert.deepEqual((await verifyLedger(world.server.tapedeck.services.journal)).faults, []);
  await accounts.changeAccount(world.accountId, { budget: 17 });
  assert.equal((await askStock(world, path)).messages, 14);
});

test('types that a caller may not read are left out, or refused if no other type remains', async () => {
  const { accountId, server } = world;
  const { accounts } = server.tapedeck.services;
  await changeDataset(world, 'NEWS', { access: { level: 'enterprise' } });
  await changeDataset(world, 'EARNINGS', { access: { level: 'restricted' } });
  const path =
    '/market/batch?symbols=S100,S101&types=News,quote,earnings&filter=price,headline,EPS';
  const { headers, messages, text } = await askStock(world, path);
  assert.equal(text, '{"S100":{"quote":{"price":0.25}},"S101":{"quote":{"price":1.25}}}');
  assert.equal(headers.get('svccloud-left-out'), 'News,earnings');
  assert.equal(messages, 2);
  const statuses = async (): Promise<readonly number[]> => {
    const typeLists = ['news', 'earnings', 'news,earnings', 'earnings,news'];
    const answers = typeLists.map((types) => askStock(world, `/S100/batch?types=${types}`));
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  assert.deepEqual(await statuses(), [451, 401, 451, 401]);
  await accounts.changeAccount(accountId, { grants: ['NEWS'] });
  assert.deepEqual(await statuses(), [200, 401, 200, 200]);
  const { text: closed } = await accounts.createToken(accountId, 'publishable', { core: false });
  assert.equal((await askStock(world, '/S100/batch?types=quote', {}, closed)).status, 401);
  const owner = await askStock(
    world,
    '/S100/batch?types=news,quote,earnings',
    {},
    server.publishable,
  );
  assert.deepEqual(Object.keys(jsonOf(owner.text)), ['news', 'quote', 'earnings']);
});

test('premium types are counted separately', async () => {
  const { accounts } = world.server.tapedeck.services;
  await changeDataset(world, 'NEWS', { weight: 7, access: { level: 'premium' } });
  await accounts.changeAccount(world.accountId, { premiumMessages: 100 });
  const { headers, messages } = await askStock(world, '/S100/batch?types=quote,news&last=2');
  assert.deepEqual([messages, headers.get('svccloud-premium-messages-used')], [1, '14']);
});

test('a pushed record is returned immediately, and its digits are unchanged', async () => {
  const { base, secret } = world.server;
  const push = async (exact: string): Promise<void> => {
    const url = `${base}/v1/record/CORE/QUOTE?duplicateKeyHandling=replace&token=${secret}`;
    const body = `[{"symbol":"NEW","price":0.1,"exact":${exact}}]`;
    assert.equal((await fetch(url, { method: 'POST', body })).status, 200);
  };
  for (const exact of ['9007199254740991', '12']) {
    await push(exact);
    const { text } = await askStock(world, '/market/batch?symbols=new,S100&types=quote');
    assert.ok(
      text.startsWith(`{"NEW":{"quote":{"symbol":"NEW","price":0.1,"exact":${exact}}}`),
      text,
    );
  }
});

test('an answer that the caller has is not sent again', async () => {
  const first = await askStock(world, '/S100/chart');
  const tag = first.headers.get('etag') ?? '';
  assert.notEqual(tag, '');
  const again = await askStock(world, '/S100/chart', { 'if-none-match': tag });
  assert.deepEqual([again.status, again.text, again.messages], [304, '', 0]);
});

test('the test environment answers other values, the same in a batch and alone', async () => {
  const { accountId, server } = world;
  const tokens = await server.tapedeck.services.accounts.tokens(accountId);
  const token = tokens.find(({ kind, test: forTests }) => forTests && kind === 'publishable')?.text;
  const ask = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${server.tapedeck.sandbox}/v1/stock${path}token=${token}`);
    return answer.json();
  };
  const types = ['quote', 'chart', 'news', 'earnings'];
  const other = (await ask(`/market/batch?symbols=S100,S200&types=${types.join(',')}&`)) as Json;
  assert.deepEqual(Object.keys(other), ['S100', 'S200']);
  // A small price, or a record without a date, may be unchanged.
  for (const [symbol, type] of [
    ['S200', 'quote'],
    ['S200', 'chart'],
    ['S100', 'news'],
    ['S100', 'earnings'],
  ] as const) {
    assert.deepEqual(other[symbol]?.[type], await ask(`/${symbol}/${type}?`), type);
    const real = await askStock(world, `/${symbol}/${type}`);
    assert.notDeepEqual(other[symbol]?.[type], JSON.parse(real.text), type);
  }
  assert.equal(used().used, 1 + 3 + 10 + 1);
});

test('every type of the table is served, in its shape', async () => {
  const csv = 'symbol,date,peer\nS100,2024-02-28,X\nS100,2024-02-29,Y\nS100,2024-03-01,Z\n';
  for (const { dataset } of STOCK_TYPES) await loadCore(world, dataset, csv);
  const testedDatasets = new Set(['QUOTE', 'NEWS', 'EARNINGS']);
  const [past, today, coming] = ['2024-02-28,X', '2024-02-29,Y', '2024-03-01,Z']
    .map((row) => row.split(','))
    .map(([date, peer]) => ({ symbol: 'S100', date, peer }));
  for (const type of STOCK_TYPES.filter(({ dataset }) => !testedDatasets.has(dataset))) {
    const { messages, text } = await askStock(world, `/S100/${type.name}`);
    const newestFirst = [coming, today, past];
    const array = {
      record: [coming],
      day: [coming],
      listed: [coming],
      days: [today, past],
      newest: newestFirst.slice(0, type.shape === 'newest' ? type.last : 0),
      coming: type.shape === 'coming' && type.today === true ? [today] : [today, coming],
    }[type.shape];
    const { bare, beside, only, within } = {
      bare: undefined,
      beside: undefined,
      only: undefined,
      within: undefined,
      ...type,
    };
    const rows = bare === true ? [{ date: '2024-03-01', peer: 'Z' }] : array;
    const values = only === undefined ? rows : array.map((record) => record?.peer);
    const whole =
      within === undefined ? values : { ...(beside ?? { symbol: 'S100' }), [within]: values };
    const isTwice = type.shape === 'coming' && type.twice === true;
    const viewData = array.map(() => ({ Symbol: 'S100' }));
    const twice = { rawData: array, viewData, lastUpdate: '2024-02-29' };
    const isOne = type.shape === 'record' || type.shape === 'day';
    const expected = isOne ? coming : isTwice ? twice : whole;
    // Missing values of the file are null.
    const withValues = (_: string, value: unknown): unknown => value ?? undefined;
    const expectedValue = JSON.parse(JSON.stringify(expected), withValues) as unknown;
    assert.deepEqual(JSON.parse(text, withValues), expectedValue, `${type.name}: ${text}`);
    assert.equal(messages, array.length, type.name);
  }
});

test('docs/reference/stock.md documents every type, and no other', () => {
  const text = readFileSync(
    join(import.meta.dirname, '..', '..', '..', 'docs', 'reference', 'stock.md'),
    'utf8',
  );
  const documentedTypes = [...text.matchAll(/^\| `([a-z-]+)` \| `([A-Z_]+)` \|/gm)].map(
    ([, name, dataset]) => `${name} ${dataset}`,
  );
  const there = STOCK_TYPES.map(({ name, dataset }) => `${name} ${dataset}`);
  assert.deepEqual(documentedTypes.toSorted(), there.toSorted());
});
