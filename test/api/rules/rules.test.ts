// Rules as clients of the original make them: fired by ticks, charged, delivered, counted.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
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

test('a rule fires when its conditions hold, at most once per frequency', async () => {
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
      ...{ id, event: 'AAA', name: 'above twelve' },
      ...{ data: { latestPrice: 12.5, changePercent: 0.13636 } },
      timestamp: rules.clock.nowMs - 59_999,
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
    const said = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signed = createHmac('sha256', key).update(said).digest('base64');
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
