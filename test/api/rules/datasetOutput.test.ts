// Alerts that become records: stored once each, with the rights of the token, and never in a loop.
import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { READ_ALL } from '../../../store/accounts/tokens.ts';
import { send } from '../../base/client.ts';
import { openRuleServer, type RuleServer } from './ruleServer.ts';

const rule = (dataset: string, more: object = {}): object => ({
  ruleSet: 'AAA',
  type: 'all',
  ruleName: 'above twelve',
  conditions: [['latestPrice', '>', 12]],
  outputs: [{ frequency: 60, method: 'dataset', dataset }],
  ...more,
});

const records = (rules: RuleServer, path: string): Promise<unknown> => rules.get(path);

test('each alert is a record of the dataset, which is created with the rule', async () => {
  await using rules = await openRuleServer();
  const id = await rules.create(rule('ALERTS', { additionalKeys: ['changePercent'] }));
  rules.trade('AAA', 12.5);
  const firstMs = rules.clock.nowMs;
  await rules.settled();
  rules.clock.nowMs += 60_000;
  rules.trade('AAA', 13);
  await rules.settled();
  const alertRecords = (await records(rules, '/data/WS/ALERTS/AAA?last=5')) as readonly object[];
  assert.equal(alertRecords.length, 2);
  expect(alertRecords[1]).toMatchObject({
    symbol: 'AAA',
    ruleId: id,
    ruleName: 'above twelve',
    time: new Date(firstMs).toISOString(),
    data: {
      latestPrice: 12.5,
      changePercent: 0.13636,
    },
  });
  const alerts = (await rules.get(`/rules/alerts/${id}`)) as readonly {
    alertId: string;
    state: string;
  }[];
  expect(alerts.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  expect(new Set(alerts.map((one) => one.alertId))).toEqual(
    new Set(alertRecords.map((one) => new Map(Object.entries(one)).get('alertId'))),
  );
  // A redelivery is the same record.
  const { services } = rules.server.tapedeck;
  const again = await rules.post('/rules/redeliver', { alertId: alerts[0]?.alertId });
  assert.equal(again.status, 200, again.text);
  await rules.settled();
  await services.alertDeliveries.deliverDue();
  assert.equal(((await records(rules, '/data/WS/ALERTS/AAA?last=5')) as object[]).length, 2);
  const sqlQuery = encodeURIComponent("SELECT ruleName FROM ALERTS WHERE symbol = 'AAA'");
  assert.equal(((await rules.get(`/sql-query/WS?sqlQuery=${sqlQuery}`)) as object[]).length, 2);
});

test('an unsuitable dataset for alerts is refused, and nothing is created', async () => {
  await using rules = await openRuleServer();
  const refused = async (dataset: string, more: object = {}): Promise<string> => {
    const { status, text } = await rules.post('/rules/create', rule(dataset, more));
    assert.ok(status >= 400 && status < 500, `${dataset}: ${status} ${text}`);
    return text;
  };
  await send(rules.server, 'POST', '/record/WS/OTHER', [{ a: 1 }]);
  assert.match(await refused('OTHER'), /OTHER has another unique index than alerts/);
  assert.match(await refused('no name'), /letters, digits or underscores/);
  await refused('NOBODYS.ALERTS');
  assert.match(await refused('_system_x'), /reserved prefix/);
  await refused('');
  assert.deepEqual(await rules.get('/rules'), []);
});

test('a rule that would trigger itself, directly or through others, is refused', async () => {
  await using rules = await openRuleServer();
  await rules.create(rule('FIRST'));
  rules.trade('AAA', 12.5);
  await rules.settled();
  const reading = (dataset: string, from: string): object => ({
    ...rule(dataset),
    ruleSet: undefined,
    index: [`WS:${from}:AAA:ruleName`],
    conditions: [['$index[0]', '==', 'above twelve']],
  });
  const own = await rules.post('/rules/create', reading('FIRST', 'FIRST'));
  assert.equal(own.status, 400);
  assert.match(own.text, /it would fire for ever/);
  const creation = await rules.post('/rules/create', reading('SECOND', 'FIRST'));
  assert.equal(creation.status, 200, creation.text);
  const { services } = rules.server.tapedeck;
  for (let turn = 0; turn < 50; turn += 1) {
    await rules.settled();
    if (services.lake.directory.dataset('WS', 'SECOND') !== undefined) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const circle = await rules.post('/rules/create', reading('FIRST', 'SECOND'));
  assert.equal(circle.status, 400, circle.text);
  assert.match(circle.text, /SECOND is read|leads to what it reads|for ever/);
});

test('a token without the right does not write, neither now nor later', async () => {
  await using rules = await openRuleServer();
  const { accounts } = rules.server.tapedeck.services;
  const { accountId } = rules.server.tapedeck;
  const { text, tokenId } = await accounts.createToken(accountId, 'secret', {});
  const url = `${rules.server.base}/v1/rules/create?token=${text}`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(rule('ALERTS')) });
  const answerText = await answer.text();
  assert.equal(answer.status, 200, answerText);
  await rules.settled();
  await accounts.changeToken(accountId, tokenId, { grants: READ_ALL });
  rules.trade('AAA', 12.5);
  await rules.settled();
  const { id } = JSON.parse(answerText) as { id: string };
  const [alert] = (await rules.get(`/rules/alerts/${id}`)) as readonly object[];
  expect(alert).toMatchObject({ state: 'dead', outcome: expect.stringMatching(/^not stored: /) });
  assert.deepEqual(await rules.get('/data/WS/ALERTS'), []);
});

const MAPPING = { key: 'symbol', subkey: 'alertId', date: 'time' };
const PROPERTIES = {
  symbol: { type: 'string' },
  alertId: { type: 'string' },
  ruleName: { type: 'string' },
  time: {
    type: 'string',
    format: 'date-time',
  },
};

async function statesOf(rules: RuleServer, id: string): Promise<readonly string[]> {
  const alerts = (await rules.get(`/rules/alerts/${id}`)) as readonly {
    state: string;
    outcome: string;
  }[];
  return alerts.map(({ outcome, state }) => `${state}: ${outcome}`);
}

test('a dataset that may have duplicate records is refused for alerts', async () => {
  await using rules = await openRuleServer();
  const dataset = {
    columnMapping: MAPPING,
    uniqueIndex: false,
    schema: { properties: PROPERTIES },
  };
  const creation = await send(rules.server, 'POST', '/datasets/WS/TWICE', { dataset });
  assert.equal(creation.status, 200, creation.text);
  const { status, text } = await rules.post('/rules/create', rule('TWICE'));
  assert.equal(status, 400, text);
  assert.match(text, /another unique index/);
});

test('an alert that is quarantined, or arrives after the dataset was deleted, is a dead letter', async () => {
  await using rules = await openRuleServer();
  const dataset = {
    columnMapping: MAPPING,
    uniqueIndex: true,
    schema: { properties: PROPERTIES },
    expectations: [
      {
        oneOf: {
          property: 'ruleName',
          values: ['other'],
        },
        action: 'quarantine',
      },
    ],
  };
  const creation = await send(rules.server, 'POST', '/datasets/WS/STRICT', { dataset });
  assert.equal(creation.status, 200, creation.text);
  const strict = await rules.create(rule('STRICT'));
  const orphanRuleId = await rules.create(rule('GONE'));
  assert.equal((await send(rules.server, 'DELETE', '/datasets/WS/GONE')).status, 200);
  rules.trade('AAA', 12.5);
  await rules.settled();
  expect(await statesOf(rules, strict)).toEqual(['dead: not stored: it is in quarantine']);
  expect(await statesOf(rules, orphanRuleId)).toEqual([
    'dead: not stored: WS.GONE does not exist any more',
  ]);
  assert.equal((await send(rules.server, 'GET', '/data/WS/GONE')).status, 404);
});

test('a bare name belongs to the workspace that was the first one at that time', async () => {
  await using rules = await openRuleServer();
  const { accounts } = rules.server.tapedeck.services;
  await send(rules.server, 'POST', '/workspaces', { name: 'WS2' });
  const id = await rules.create(rule('ALERTS'));
  await accounts.changeAccount(rules.server.tapedeck.accountId, { defaultWorkspace: 'WS2' });
  rules.trade('AAA', 12.5);
  await rules.settled();
  expect(await statesOf(rules, id)).toEqual(['delivered: stored']);
  assert.equal(((await rules.get('/data/WS/ALERTS/AAA')) as object[]).length, 1);
});
