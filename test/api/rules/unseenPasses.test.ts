// A rule over data of another account reveals nothing below its price: it runs only at changes, no output
// shows a pass that was not charged, and a rule that could not pay is paused before it runs.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { openRuleServer, type RuleServer } from './ruleServer.ts';

const LOGS = [{ method: 'logs', frequency: 3_600 }];

interface Tenant {
  readonly ask: (method: string, path: string, body?: object) => Promise<unknown>;
  readonly accountId: string;
  readonly tokenId: string;
}

async function makeTenant({ server }: RuleServer, limit?: number): Promise<Tenant> {
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount('Tenant', 'scale');
  const { text: token, tokenId } = await accounts.createToken(
    accountId,
    'secret',
    limit === undefined ? {} : { messageLimit: limit },
  );
  const ask: Tenant['ask'] = async (method, path, body) => {
    const answer = await fetch(`${server.base}/v1${path}?token=${token}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, `${path}: ${text}`);
    return JSON.parse(text);
  };
  return { ask, accountId, tokenId };
}

interface RuleView {
  readonly ran: number;
  readonly passed: number;
  readonly sent: number;
  readonly isActive: boolean;
  readonly note?: string;
}

/** Everything that a tenant can see of its rules, except the times of its requests. */
async function seen({ ask }: Tenant, id: string): Promise<string> {
  const answers = [];
  for (const path of [
    `/rules/info/${id}`,
    '/rules',
    `/rules/alerts/${id}`,
    `/rules/output/${id}`,
    '/account/usage/rules',
    '/account/usage/rule-records',
    '/account/usage/alerts',
    '/account/usage/alert-records',
    '/account/usage/messages',
  ]) {
    answers.push(await ask('GET', path));
  }
  return JSON.stringify(answers)
    .replaceAll(/"date(?:Created|Updated)":"[^"]*"|"conditions":\[\[[^\]]*\]\]/g, '')
    .replaceAll(/"alertId":"[^"]*"|"timestamp":\d+|"latestPrice":[\d.]+|sk_…[0-9a-f]+/g, '')
    .replaceAll(id, 'ID');
}

const body = (above: number, more: object = {}): object => ({
  ruleSet: 'AAA',
  ruleName: 'r',
  conditions: [['latestPrice', '>', above]],
  outputs: LOGS,
  ...more,
});

test('bisection by edits reveals no unpaid value', async () => {
  await using rules = await openRuleServer();
  const tenant = await makeTenant(rules);
  const { id } = (await tenant.ask('POST', '/rules/create', body(1e9))) as { id: string };
  await rules.settled();
  const views = [];
  for (const above of [1, 1e9, 5, 20, 10.9, 11.1]) {
    await tenant.ask('POST', '/rules/create', { ...body(above), id });
    await rules.settled();
    await tenant.ask('POST', '/rules/pause', { ruleId: id });
    await tenant.ask('POST', '/rules/resume', { ruleId: id });
    await rules.settled();
    views.push(await seen(tenant, id));
  }
  // Every view is the same, with the price above or below.
  assert.equal(new Set(views).size, 1, views.join('\n'));
  const used = rules.server.tapedeck.services.ledger.balance(tenant.accountId).used;
  assert.equal(used, 0);
});

test('a pass within the cool-down changes nothing that is visible', async () => {
  await using rules = await openRuleServer();
  const views: string[] = [];
  for (const price of [10, 50]) {
    const tenant = await makeTenant(rules);
    const { id } = (await tenant.ask('POST', '/rules/create', body(1))) as { id: string };
    await rules.settled();
    rules.clock.nowMs += 1_000;
    rules.trade('AAA', 12.5 + views.length / 8);
    await rules.settled();
    const [first] = (await tenant.ask('GET', `/rules/info/${id}`)) as RuleView[];
    assert.deepEqual([first?.ran, first?.passed, first?.sent], [1, 1, 1]);
    // During the cool-down the rule is edited to another condition, and a value changes.
    await tenant.ask('POST', '/rules/create', { ...body(30), id });
    await rules.settled();
    rules.clock.nowMs += 1_000;
    rules.trade('AAA', price);
    await rules.settled();
    views.push(await seen(tenant, id));
  }
  assert.equal(views[0], views[1]);
});

test('a rule that could not pay is paused with its reason, at any price', async () => {
  await using rules = await openRuleServer();
  const tenant = await makeTenant(rules, 0);
  for (const above of [1, 1e9]) {
    const { id } = (await tenant.ask('POST', '/rules/create', body(above))) as { id: string };
    await rules.settled();
    rules.clock.nowMs += 1_000;
    rules.trade('AAA', 20 + above / 1e9);
    await rules.settled();
    const [view] = (await tenant.ask('GET', `/rules/info/${id}`)) as RuleView[];
    assert.deepEqual([view?.isActive, view?.ran, view?.passed, view?.sent], [false, 0, 0, 0]);
    assert.match(view?.note ?? '', /an alert of this rule costs \d+ messages/);
    assert.deepEqual(await tenant.ask('GET', `/rules/alerts/${id}`), []);
  }
});

test('a rule over data of its own account runs at creation, as before', async () => {
  await using rules = await openRuleServer();
  const id = await rules.create(body(1));
  await rules.settled();
  const [view] = (await rules.get(`/rules/info/${id}`)) as RuleView[];
  assert.deepEqual([view?.passed, view?.sent], [1, 1]);
});
