// Rules of callers who try to get unpaid data, or to overload a server.
import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { send } from '../../base/client.ts';
import { openReceiver, openRuleServer } from './ruleServer.ts';

const LOGS = [{ method: 'logs', frequency: 1 }];
const rule = (more: object): object => ({
  ruleSet: 'AAA',
  ruleName: 'r',
  conditions: [['latestPrice', '>', 1]],
  outputs: LOGS,
  ...more,
});

test('unpaid data is not revealed: neither the reason for a pass nor a refused alert', async () => {
  await using rules = await openRuleServer();
  const id = await rules.create(rule({}));
  const { accounts } = rules.server.tapedeck.services;
  await accounts.changeAccount(rules.server.tapedeck.accountId, { budget: 2 });
  const why = (): ReturnType<typeof send> => send(rules.server, 'GET', `/rules/why/${id}`);
  const paid = await why();
  assert.equal(paid.status, 200, paid.text);
  assert.match(paid.text, /"latestPrice":11/);
  // One for the alert when the rule was created, one for the reasons.
  await accounts.changeAccount(rules.server.tapedeck.accountId, { payAsYouGo: false });
  rules.clock.nowMs += 5_000;
  rules.trade('AAA', 123.25);
  await accounts.changeAccount(rules.server.tapedeck.accountId, { budget: 1_000 });
  const alerts = (await rules.get(`/rules/alerts/${id}`)) as object[];
  expect(alerts[0]).toMatchObject({ state: 'unsent', messages: 0, data: {} });
  assert.doesNotMatch(JSON.stringify(alerts), /123\.25/);
});

test('names without a value, also those that every object has', async () => {
  await using rules = await openRuleServer();
  const names = ['constructor', '__proto__', 'toString', 'WS', 'a:b', 'CORE:STOCK:AAA:constructor'];
  const dataset = 'CORE:HISTORICAL_PRICES:AAA';
  for (const name of [...names, `${dataset}:__proto__`, `${dataset}:constructor`]) {
    const body = rule({ conditions: [[name, '>', 1]], index: [] });
    const { status, text } = await rules.post('/rules/create', body);
    assert.ok(status === 400 || status === 404, `${name}: ${status} ${text}`);
  }
  const wrong: readonly object[] = [
    { conditions: [] },
    { conditions: Array.from({ length: 101 }, () => ['latestPrice', '>', 1]) },
    { conditions: [['latestPrice', '>', [1]]] },
    { conditions: [['latestPrice', '>', 1e400]] },
    { ruleName: 'a\r\nBcc: everybody@example.com' },
    { outputs: [{ method: 'webhook', frequency: 60, url: 'file:///etc/passwd' }] },
    { outputs: [{ method: 'webhook', frequency: 60, url: 'http://127.0.0.1:9/', token: 'x' }] },
    { outputs: [{ method: 'sms', frequency: 60 }] },
    { outputs: [{ method: 'logs', frequency: 0 }] },
    { ruleSet: '' },
    { type: 'none' },
    { additionalKeys: ['latestPrice', 'nothing'] },
    { surprise: true },
  ];
  for (const more of wrong) {
    const { status, text } = await rules.post('/rules/create', rule(more));
    assert.equal(status, 400, `${JSON.stringify(more).slice(0, 80)}: ${text}`);
  }
  assert.deepEqual(await rules.get('/rules'), [], 'nothing was created partly');
});

test('the runs and reads of an account for each change are bounded', async () => {
  await using rules = await openRuleServer();
  for (let at = 0; at < 100; at += 1) await rules.create(rule({ ruleSet: 'ANYEVENT' }));
  const more = await rules.post('/rules/create', rule({ ruleSet: 'ANYEVENT' }));
  assert.equal(more.status, 400, more.text);
  assert.match(more.text, /100 rules for ANYEVENT/);
  const named = (from: number): object => ({
    ruleName: 'named',
    outputs: LOGS,
    conditions: [['$index[0]', '>', 1]],
    index: Array.from({ length: 100 }, (_, at) => `CORE:STOCK:X${from}Y${at}:latestPrice`),
  });
  for (let at = 0; at < 10; at += 1) await rules.create(named(at));
  const tooMany = await rules.post('/rules/create', named(11));
  assert.equal(tooMany.status, 400, tooMany.text);
  assert.match(tooMany.text, /at most 1000 named values/);
});

test('a token that loses a dataset loses the rules that read it', async () => {
  await using receiver = await openReceiver();
  await using rules = await openRuleServer();
  const { services } = rules.server.tapedeck;
  const accountId = await services.accounts.createAccount('other', 'scale');
  const tokens = await services.accounts.tokens(accountId);
  const token = tokens.find(({ kind, test: isTest }) => kind === 'secret' && !isTest)?.text ?? '';
  const createdToken = await services.accounts.createToken(accountId, 'secret', {});
  const secret = token === '' ? createdToken.text : token;
  const body = rule({
    ruleSet: undefined,
    index: ['CORE:HISTORICAL_PRICES:AAA:close'],
    token: secret,
    conditions: [['$index[0]', '>', 1]],
    outputs: [
      {
        method: 'webhook',
        frequency: 1,
        url: receiver.url,
      },
    ],
  });
  const headers = { 'content-type': 'application/json' };
  const url = `${rules.server.base}/v1/rules/create`;
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  assert.equal(answer.status, 200, await answer.clone().text());
  const { id } = (await answer.json()) as { id: string };
  await rules.settled();
  const load = `${rules.server.base}/v1/data/CORE/HISTORICAL_PRICES?wait=true&token=${rules.server.secret}`;
  const bar = (close: number): string =>
    `symbol,date,open,high,low,close,volume\nAAA,2024-02-29,9,11,9,${close},100\n`;
  await fetch(load, { method: 'POST', body: bar(98) });
  await rules.settled();
  assert.equal(receiver.heard.length, 1);
  const access = { access: { level: 'restricted' } };
  const closed = await send(rules.server, 'PATCH', '/datasets/CORE/HISTORICAL_PRICES', access);
  assert.equal(closed.status, 200, closed.text);
  await services.rules.runChecks();
  rules.clock.nowMs += 10_000;
  assert.equal((await fetch(load, { method: 'POST', body: bar(99) })).status, 200);
  await rules.settled();
  assert.equal(receiver.heard.length, 1, 'no more alerts are sent');
  const storedRule = services.rules.find(id);
  assert.equal(storedRule?.isActive, false);
  assert.notEqual(storedRule?.note, '');
});
