// Alerts as mail, through a real mail server.
import assert from 'node:assert/strict';
import { afterAll, describe, expect, test } from 'vitest';
import { startMailServer } from '../../base/servers/smtp.ts';
import { subjectLine } from '../../../jobs/deliveries/alertMessages.ts';
import type { Alert } from '../../../store/work/alerts.ts';
import type { Rule } from '../../../store/work/rules.ts';
import { openRuleServer } from './ruleServer.ts';

const server = await startMailServer();
afterAll(() => server?.[Symbol.asyncDispose]());

const MISSING = 'the machine has no mail server: Debian has python3-aiosmtpd';

if (server === undefined) {
  test('mail through a real server', (t) => {
    if (process.env['CI'] === 'true') assert.fail(MISSING);
    t.skip(MISSING);
  });
}

const rule = (to: string, more: object = {}): object => ({
  ruleSet: 'AAA',
  ruleName: 'above twelve',
  conditions: [['latestPrice', '>', 12]],
  outputs: [
    {
      method: 'email',
      frequency: 60,
      to,
      ...more,
    },
  ],
});

test('a subject includes values of the alert, in one line', () => {
  const alert = { symbol: '', values_json: '{"latestPrice":12.5}' } as Alert;
  const index = ['CORE:STOCK:AAA:latestPrice'];
  const output = { members: { subject: '{{event}} at\n{{latestPrice}}, {{nothing}}' } };
  const sampleRule = { name: 'above', body: { index, output } } as unknown as Rule;
  assert.equal(subjectLine(sampleRule, alert), 'AAA at 12.5, {{nothing}}');
});

describe.skipIf(server === undefined)('mail', () => {
  const settings = {
    TAPEDECK_SMTP: `smtp://127.0.0.1:${server?.port}`,
    TAPEDECK_MAIL_FROM: 'alerts@example.com',
  };

  test('sends the text of the owner, with the values in their places', async () => {
    await using rules = await openRuleServer(settings);
    const message = 'Grüße: {{event}} is at {{{ latestPrice }}}, {{nothing}} is not known.';
    const id = await rules.create(rule('me@example.com', { subject: 'AAA ↑', message }));
    rules.trade('AAA', 12.5);
    await rules.settled();
    const [mail = ''] = (await server?.mails())?.slice(-1) ?? [];
    expect(mail).toMatch(/^From: alerts@example\.com\r?$/m);
    expect(mail).toMatch(/^To: me@example\.com\r?$/m);
    expect(mail).toMatch(/^X-Alert-Id: [0-9a-f-]{36}\r?$/im);
    const text = mail.replaceAll(/=\r?\n/g, '');
    expect(text).toContain('Gr=C3=BC=C3=9Fe: AAA is at {12.5}, {{nothing}} is not known.');
    const [info] = (await rules.get(`/rules/info/${id}`)) as object[];
    expect(info).toMatchObject({ sent: 1, weight: 20_001 });
    expect(await rules.get(`/rules/alerts/${id}`)).toMatchObject([{ state: 'delivered' }]);
  });

  test('a refusal of the mail server makes a dead letter, or is retried', async () => {
    await using rules = await openRuleServer(settings);
    const refused = await rules.create(rule('no@example.com'));
    const later = await rules.create(rule('later@example.com'));
    rules.trade('AAA', 12.5);
    await rules.settled();
    expect(await rules.get(`/rules/alerts/${refused}`)).toMatchObject([
      { state: 'dead', outcome: expect.stringContaining('550') },
    ]);
    expect(await rules.get(`/rules/alerts/${later}`)).toMatchObject([
      { state: 'waiting', outcome: expect.stringContaining('451'), attempts: 1 },
    ]);
    rules.clock.nowMs += 60_000;
    await rules.settled();
    expect(await rules.get(`/rules/alerts/${later}`)).toMatchObject([
      { state: 'delivered', attempts: 2 },
    ]);
  });

  test('no address and no subject adds another header', async () => {
    await using rules = await openRuleServer(settings);
    const wrong: readonly [string, object][] = [
      ['me@example.com, you@example.com', {}],
      ['me@example.com\r\nBcc: you@example.com', {}],
      ['"me" <me@example.com>', {}],
      ['me', {}],
      ['me@example.com', { subject: 'a\r\nBcc: you@example.com' }],
    ];
    for (const [to, more] of wrong) {
      const { status, text } = await rules.post('/rules/create', rule(to, more));
      assert.equal(status, 400, `${to}: ${text}`);
    }
  });
});
