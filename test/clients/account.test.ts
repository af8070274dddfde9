// The official JavaScript client, unmodified: the account's methods with the values it reads back,
// its handling of every refusal of an account, and its retries.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { type Disk, localDisk } from '../../store/base/disk.ts';
import { loaded } from '../base/client.ts';
import { startServer, type TestServer } from '../base/server.ts';
import { type Client, iexjs, refusal } from './iexjs.ts';

const OVER_LIMIT =
  'Response 402 - The message budget of the account is reached: ' +
  'raise it with POST /account/messagebudget, or remove it with DELETE';
const CSV = 'symbol,date,price\nAUDI,2024-01-01,10.5\nAUDI,2024-01-02,11\nBMW,2024-01-01,20\n';

interface Usage {
  readonly monthlyUsage: number;
  readonly monthlyPayAsYouGo: number;
  readonly dailyUsage: Readonly<Record<string, number>>;
  readonly tokenUsage: Readonly<Record<string, number>>;
  readonly keyUsage: Readonly<Record<string, number>>;
}

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startServer({ settings: { TAPEDECK_SANDBOX_PORT: '0' }, ownAccount: true });
  iexjs.overrideUrl({ url: `${server.base}/v1/` });
  client = clientOf(server.secret);
  await loaded(server, 'CARS', CSV);
});
afterAll(async () => {
  iexjs.overrideUrl({});
  await server.close();
});

const clientOf = (token: string, version = 'v1'): Client =>
  new iexjs.Client({ api_token: token, version });

/** Runs `work` with all clients at another address. */
async function askingAt<T>(address: string, run: () => Promise<T>): Promise<T> {
  iexjs.overrideUrl({ url: `${address}/` });
  try {
    return await run();
  } finally {
    iexjs.overrideUrl({ url: `${server.base}/v1/` });
  }
}

const series = (asker: Client, last: number): Promise<unknown> =>
  asker.timeSeries({ id: 'CARS', key: 'AUDI', last });

const listDatasets = (asker: Client): Promise<unknown> =>
  asker.apperate['listDatasets']?.({ workspace: 'WS' }) ?? assert.fail();

async function metadata(): Promise<Readonly<Record<string, unknown>>> {
  return (await client.metadata()) as Readonly<Record<string, unknown>>;
}

test('usage: of messages, of everything, and of rules, of which none exist', async () => {
  await series(clientOf(server.publishable), 2);
  const usage = (await client.usage('messages')) as Usage;
  const { monthlyUsage, monthlyPayAsYouGo, tokenUsage, keyUsage } = usage;
  assert.deepEqual([monthlyUsage, monthlyPayAsYouGo], [2, 0]);
  assert.deepEqual(tokenUsage, { [server.publishable]: 2 });
  assert.deepEqual(keyUsage, { 'WS.CARS': 2 });
  const [[day = '', used] = []] = Object.entries(usage.dailyUsage);
  assert.match(day, /^20\d{6}$/);
  assert.equal(used, 2);
  assert.deepEqual(await client.usage(), { messages: usage, rules: [] });
  for (const type of ['rules', 'rule-records', 'alerts', 'alert-records']) {
    const none = (await client.usage(type)) as Usage;
    assert.deepEqual([none.monthlyUsage, none.keyUsage], [0, {}], type);
  }
});

test('metadata has the members of the original, of their types', async () => {
  const { effectiveDate, endDateEffective, ...rest } = await metadata();
  assert.ok(Math.abs(Number(effectiveDate) - Date.now()) < 60_000);
  assert.ok(Number(endDateEffective) > Date.now());
  assert.deepEqual(rest, {
    payAsYouGoEnabled: true,
    subscriptionTermType: 'monthly',
    tierName: 'scale',
    messageLimit: 1_000_000_000,
    messagesUsed: 2,
    premiumMessageLimit: 0,
    premiumMessagesUsed: 0,
    messageBudget: null,
    circuitBreaker: 0,
  });
});

test('messageBudget stops all requests except those of the account, until it is raised', async () => {
  assert.equal(await client.messageBudget(3), 'SUCCESS');
  assert.equal((await metadata())['messageBudget'], 3);
  assert.equal(await refusal(series(client, 2)), OVER_LIMIT);
  assert.equal(((await series(client, 1)) as readonly unknown[]).length, 1);
  assert.equal(await refusal(client.timeSeriesInventory({})), OVER_LIMIT);
  assert.equal(await refusal(listDatasets(client)), OVER_LIMIT);
  assert.equal(((await client.usage('messages')) as Usage).monthlyUsage, 3);
  assert.equal(await client.messageBudget(1_000), 'SUCCESS');
  assert.equal(((await series(client, 2)) as readonly unknown[]).length, 2);
  const errorStart =
    'Response 400 - {"error":"\\"totalMessages\\" must be a whole number from 0 to ';
  assert.ok((await refusal(client.messageBudget('many'))).startsWith(errorStart));
});

test('payAsYouGo, which the client requests at the budget', async () => {
  for (const allow of [false, true]) {
    assert.equal(await iexjs.payAsYouGo(allow, server.secret, 'v1'), 'SUCCESS');
    assert.equal((await metadata())['payAsYouGoEnabled'], allow);
  }
  assert.equal((await metadata())['messageBudget'], 1_000);
});

test('refusals are sentences: of tokens, of routes, of parameters', async () => {
  const unknown = clientOf('sk_99999999999999999999999999999999');
  const notValid = 'Response 403 - The API key provided is not valid.';
  assert.equal(await refusal(unknown.metadata()), notValid);
  assert.equal(await refusal(unknown.messageBudget(1)), notValid);
  assert.equal(await refusal(series(unknown, 1)), notValid);
  const noKey = 'Response 401 - An API key is required to access this data and no key was provided';
  assert.equal(await refusal(iexjs.listDatasets({ workspace: 'WS' })), noKey);
  const listing = listDatasets(clientOf(server.publishable));
  const secretNeeded = 'Response 401 - The secret key is required to access this endpoint';
  assert.equal(await refusal(listing), secretNeeded);
  assert.equal(await refusal(client.timeSeries({ id: 'NONE' })), 'Response 404 - Not Found');
  const odd = client.timeSeries({ id: 'CARS', interval: -1, last: 1 });
  assert.match(await refusal(odd), /"interval\\" must be a whole number/);
});

test('an account without permission: suspended, disabled, on the free tier', async () => {
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount('second', 'free');
  const { text, tokenId } = await accounts.createToken(accountId, 'secret');
  const second = clientOf(text);
  const upgrade = 'Please upgrade for access to this data.';
  assert.ok((await refusal(iexjs.payAsYouGo(true, text, 'v1'))).endsWith(upgrade));
  await accounts.changeAccount(accountId, { suspended: true });
  assert.equal(await refusal(second.metadata()), 'Response 403 - The account is inactive');
  await accounts.changeAccount(accountId, { suspended: false });
  assert.equal(((await second.metadata()) as { readonly tierName: string }).tierName, 'free');
  await accounts.rotateToken(accountId, tokenId);
  const disabled = 'Response 403 - The API key provided has been disabled';
  assert.equal(await refusal(second.metadata()), disabled);
});

test('test tokens belong to the test environment, others do not', async () => {
  const tokens = await server.tapedeck.services.accounts.tokens(server.tapedeck.accountId);
  const token = tokens.find(({ test: isTest, kind }) => isTest && kind === 'secret')?.text ?? '';
  const tester = clientOf(token, 'sandbox');
  const inProduction = 'Response 403 - Test tokens may only be used in the sandbox environment.';
  assert.equal(await refusal(series(tester, 1)), inProduction);
  await askingAt(`${server.tapedeck.sandbox}/stable`, async () => {
    const rows = (await series(tester, 2)) as readonly Readonly<Record<string, unknown>>[];
    assert.deepEqual(
      rows.map(({ id, key }) => [id, key]),
      [
        ['CARS', 'AUDI'],
        ['CARS', 'AUDI'],
      ],
    );
    const days = rows.map((row) => Number(row['date']));
    assert.deepEqual(days, [Date.UTC(2024, 0, 2), Date.UTC(2024, 0, 1)], 'dates are unchanged');
    const inSandbox = 'Response 403 - Production tokens cannot be used in the sandbox environment.';
    assert.equal(await refusal(series(client, 1)), inSandbox);
  });
});

test('after 429 the client tries five times, and succeeds after a wait', async () => {
  let nowMs = 0;
  let stepMs = 0;
  let clockReads = 0;
  const monotonic = (): number => {
    clockReads += 1;
    nowMs += stepMs;
    return nowMs;
  };
  await using fast = await startServer({
    settings: { TAPEDECK_RATE_LIMIT: 'on' },
    seams: { monotonic },
  });
  await askingAt(`${fast.base}/v1`, async () => {
    for (let count = 0; count < 100; count += 1) await fetch(`${fast.base}/v1/status`);
    clockReads = 0;
    assert.equal(await refusal(client.status()), 'Response 429 - Too Many Requests');
    assert.equal(clockReads, 5);
    // 100 requests in a second: after 4 ms not yet half a request has grown back.
    [clockReads, stepMs] = [0, 4];
    assert.equal(((await client.status()) as { readonly status: string }).status, 'up');
    assert.equal(clockReads, 3);
  });
});

test('an internal error of the server is reported as such, without details', async () => {
  const disk: Disk = {
    ...localDisk,
    syncFile: () => Promise.reject(new Error('a path that nobody must see')),
  };
  await using broken = await startServer({ seams: { disk } });
  await askingAt(`${broken.base}/v1`, async () => {
    const load = client.apperate['loadData']?.({ workspace: 'WS', id: 'CARS', data: CSV });
    assert.equal(await refusal(load ?? assert.fail()), 'Response 500 - System Error');
  });
});
