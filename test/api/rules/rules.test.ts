// Rules as clients of the original create them: fired by ticks, charged, delivered, counted.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openReceiver, openRuleServer } from './ruleServer.ts';

const rule = (url: string, more: object = {}): object => ({
  ruleSet: 'AAA',
  type: 'all',
  ruleName: 'above twelve',
  conditions: [['latestPrice', '>', 12]],
  outputs: [{ frequency: 60, method: 'webhook', url }],
  ...more,
});

test('a rule fires when its conditions are true, at most once per frequency', async () => {
  await using receiver = await openReceiver();
  await using rules = await openRuleServer();
  const { status, text } = await rules.post(
    '/rules/create',
    rule(receiver.url, { additionalKeys: ['changePercent'] }),
  );
  assert.equal(status, 200, text);
  const { id, weight } = JSON.parse(text) as { id: string; weight: number };
  assert.equal(weight, 102, 'a webhook and two values of a quote');
  await rules.settled();
  assert.equal(receiver.heard.length, 0);
  rules.trade('AAA', 12.5);
  rules.trade('AAA', 13);
  rules.clock.nowMs += 59_999;
  rules.trade('AAA', 13.5);
  await rules.settled();
  assert.equal(receiver.heard.length, 1);
  const { body, headers } = receiver.heard[0] ?? { body: '', headers: {} };
  assert.equal(headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(body), {
    data: {
      id,
      event: 'AAA',
      name: 'above twelve',
      data: {
        latestPrice: 12.5,
        changePercent: 0.13636,
      },
      timestamp: rules.clock.nowMs - 59999,
    },
  });
  rules.clock.nowMs += 1;
  rules.trade('AAA', 14);
  rules.trade('AAA', 11);
  await rules.settled();
  assert.equal(receiver.heard.length, 2);
  const [info] = (await rules.get(`/rules/info/${id}`)) as object[];
  expect(info).toMatchObject({ name: 'above twelve', event: 'AAA', isActive: true });
  expect(info).toMatchObject({ ran: 6, evaluated: 6, passed: 4, failed: 2, sent: 2 });
  const usage = (await rules.get('/account/usage/messages')) as { keyUsage: object };
  expect(usage.keyUsage).toEqual({ ALERT_WEBHOOK: 204 });
});

test('each alert has an id and a signature that the receiver checks', async () => {
  await using receiver = await openReceiver();
  await using rules = await openRuleServer();
  const id = await rules.create(rule(receiver.url));
  const { text } = await rules.post('/rules/secret', { ruleId: id });
  const { secret } = JSON.parse(text) as { secret: string };
  receiver.answers.push({ status: 503 });
  rules.trade('AAA', 12.5);
  await rules.settled();
  rules.clock.nowMs += 20_000;
  await rules.settled();
  const [first, second] = receiver.heard;
  assert.equal(receiver.heard.length, 2);
  assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id']);
  assert.equal(first?.body, second?.body);
  for (const { body, headers } of receiver.heard) {
    const signedText = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signed = createHmac('sha256', key).update(signedText).digest('base64');
    assert.equal(headers['webhook-signature'], `v1,${signed}`);
  }
  const [alert] = (await rules.get(`/rules/alerts/${id}`)) as { alertId: string }[];
  expect(alert).toMatchObject({ state: 'delivered', attempts: 2, messages: 101 });
  const calls = await rules.get(`/rules/deliveries/${alert?.alertId}`);
  expect(calls).toMatchObject([
    { outcome: 'answered 503', answer: 'answer 503' },
    { outcome: 'answered 200', answer: 'answer 200' },
  ]);
});

test('a restart repeats no alert that was sent, and keeps the cool-down', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-rules-'));
  try {
    await using receiver = await openReceiver();
    let id = '';
    {
      await using rules = await openRuleServer({}, folder);
      const conditions = [['latestPrice', '>', 10]];
      id = await rules.create(rule(receiver.url, { conditions }));
      await rules.settled();
    }
    assert.equal(receiver.heard.length, 1, 'it is true at creation');
    await using rules = await openRuleServer({}, folder);
    rules.clock.nowMs += 3_600_000;
    await rules.settled();
    rules.trade('AAA', 11);
    await rules.settled();
    assert.equal(receiver.heard.length, 1, 'nothing is new');
    rules.trade('AAA', 11.5);
    rules.trade('AAA', 11.6);
    await rules.settled();
    assert.equal(receiver.heard.length, 2);
    const [info] = (await rules.get(`/rules/info/${id}`)) as object[];
    expect(info).toMatchObject({ sent: 2, isActive: true });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('without messages left an alert is recorded, and neither sent nor charged', async () => {
  await using receiver = await openReceiver();
  await using rules = await openRuleServer();
  const id = await rules.create(rule(receiver.url));
  const { accounts } = rules.server.tapedeck.services;
  await accounts.changeAccount(rules.server.tapedeck.accountId, { budget: 150 });
  rules.trade('AAA', 12.5);
  rules.clock.nowMs += 60_000;
  rules.trade('AAA', 13);
  rules.clock.nowMs += 60_000;
  await accounts.changeAccount(rules.server.tapedeck.accountId, { budget: 1_000 });
  rules.trade('AAA', 14);
  await rules.settled();
  assert.equal(receiver.heard.length, 2);
  const alerts = await rules.get(`/rules/alerts/${id}`);
  expect(alerts).toMatchObject([
    { state: 'delivered', messages: 101 },
    { state: 'unsent', messages: 0, outcome: 'no messages were left' },
    { state: 'delivered', messages: 101 },
  ]);
  const usage = (await rules.get('/account/usage/messages')) as { keyUsage: object };
  expect(usage.keyUsage).toEqual({ ALERT_WEBHOOK: 202 });
});

test('a rule for every symbol, by the time of day, fires when it becomes true', async () => {
  await using rules = await openRuleServer();
  const id = await rules.create({
    ruleSet: 'ANYEVENT',
    type: 'all',
    ruleName: 'any',
    trigger: 'edge',
    conditions: [
      ['changePercent', '>', 0.1],
      ['time', 'within', '09:30:00 - 15:59:59'],
    ],
    outputs: [
      {
        method: 'logs',
        frequency: 1,
      },
    ],
  });
  // The values of a symbol are loaded before its first trade is evaluated.
  for (const symbol of ['AAA', 'BBB']) rules.trade(symbol, 1.9);
  await rules.settled();
  const prices = [
    ['AAA', 12.2],
    ['BBB', 2.3],
    ['AAA', 12.3],
    ['AAA', 11],
    ['AAA', 12.4],
  ] as const;
  for (const [symbol, price] of prices) {
    rules.clock.nowMs += 5_000;
    rules.trade(symbol, price);
  }
  rules.clock.nowMs += 2 * 3_600_000;
  rules.trade('BBB', 1.9);
  rules.trade('BBB', 2.4);
  const output = (await rules.get(`/rules/output/${id}`)) as readonly { event: string }[];
  assert.deepEqual(
    output.map(({ event }) => event),
    ['AAA', 'BBB', 'AAA'],
    'the market is closed for the last one',
  );
});

test('a shadow rule records its alerts, sends none, and costs as much as its values', async () => {
  await using receiver = await openReceiver();
  await using rules = await openRuleServer();
  const id = await rules.create(rule(receiver.url, { shadow: true }));
  rules.trade('AAA', 12.5);
  await rules.settled();
  assert.equal(receiver.heard.length, 0);
  const alerts = await rules.get(`/rules/alerts/${id}`);
  expect(alerts).toMatchObject([{ state: 'shadow', messages: 1, data: { latestPrice: 12.5 } }]);
  expect(await rules.get(`/rules/info/${id}`)).toMatchObject([{ sent: 0 }]);
});

test('an alert that is refused by its receiver is not counted as sent', async () => {
  await using receiver = await openReceiver();
  await using rules = await openRuleServer();
  const id = await rules.create(rule(receiver.url));
  receiver.answers.push({ status: 400 });
  rules.trade('AAA', 12.5);
  await rules.settled();
  expect(await rules.get(`/rules/info/${id}`)).toMatchObject([{ passed: 1, sent: 0 }]);
  rules.clock.nowMs += 60_000;
  rules.trade('AAA', 13);
  await rules.settled();
  expect(await rules.get(`/rules/info/${id}`)).toMatchObject([{ passed: 2, sent: 1 }]);
});

test('a slow receiver delays nobody else', async () => {
  await using slow = await openReceiver();
  await using quick = await openReceiver();
  await using rules = await openRuleServer();
  slow.answers.push(...Array.from({ length: 20 }, () => ({ status: 200, delayMs: 3_000 })));
  for (let at = 0; at < 20; at += 1) await rules.create(rule(slow.url, { ruleName: `${at}` }));
  await rules.create(rule(quick.url, { ruleSet: 'BBB', conditions: [['latestPrice', '>', 2]] }));
  const { alertDeliveries, rules: running } = rules.server.tapedeck.services;
  rules.trade('BBB', 1.9);
  rules.trade('AAA', 12.5);
  await running.settled();
  const slowRound = alertDeliveries.deliverDue();
  while (slow.heard.length === 0) await sleep(10);
  alertDeliveries.start();
  const beganMs = performance.now();
  rules.trade('BBB', 3);
  await running.settled();
  while (quick.heard.length === 0 && performance.now() - beganMs < 10_000) await sleep(10);
  assert.ok(performance.now() - beganMs < 2_000, 'its alert waited for another receiver');
  assert.equal(slow.heard.length, 4, 'a receiver has a share of the slots');
  await alertDeliveries.stop();
  await slowRound;
});

test('reads of rules answer while changes keep arriving', async () => {
  await using rules = await openRuleServer();
  const id = await rules.create(
    rule('logs', { ruleSet: 'ANYEVENT', outputs: [{ frequency: 60, method: 'logs' }] }),
  );
  const { rules: running } = rules.server.tapedeck.services;
  // Each turn of the loop has symbols that were not loaded yet, as on a busy market.
  let symbols = 0;
  const timer = setInterval(() => {
    for (let at = 0; at < 10; at += 1) running.changed(`NEW${(symbols += 1)}`);
  }, 0);
  try {
    await sleep(200);
    const beganMs = performance.now();
    const [info] = (await rules.get(`/rules/info/${id}`)) as object[];
    expect(info).toMatchObject({ event: 'ANYEVENT' });
    assert.ok(performance.now() - beganMs < 4_000);
  } finally {
    clearInterval(timer);
  }
});
