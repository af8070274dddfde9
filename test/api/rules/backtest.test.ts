// A backtested rule fires where its conditions were true, by data as of that time, at the price of its bars.
import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { openRuleServer } from './ruleServer.ts';

interface BacktestAnswer {
  readonly instants: number;
  readonly alerts: number;
  readonly messages: number;
  readonly firings: readonly { readonly timestamp: number; readonly data: object }[];
  readonly conditions: readonly { readonly held: number; readonly nearest: unknown }[];
}

/** Closes of the minutes of one morning, from half past nine on. */
const CLOSES = [11, 11.5, 12.5, 12.4, 13, 11.9, 12.2, 12.3];
const OPEN_MS = Date.parse('2024-02-29T14:30:00Z');

const minutes = CLOSES.map((close, at) => {
  const minute = `09:${30 + at}`;
  return `AAA,2024-02-29,${minute},${close},${close},${close},${close},10`;
});
const CSV = `symbol,date,minute,open,high,low,close,volume\n${minutes.join('\n')}\n`;

test('minutes: each at its end, and no bar before its time', async () => {
  await using rules = await openRuleServer();
  const url = `${rules.server.base}/v1/data/CORE/INTRADAY_PRICES?wait=true&token=${rules.server.secret}`;
  const loaded = await fetch(url, { method: 'POST', body: CSV });
  assert.equal(loaded.status, 200, await loaded.text());
  const body = {
    ruleSet: 'aaa',
    ruleName: 'above twelve',
    from: '2024-02-29',
    conditions: [['latestPrice', '>', 12]],
    outputs: [
      {
        method: 'webhook',
        frequency: 120,
        url: 'https://example.com/',
      },
    ],
  };
  const { status, text } = await rules.post('/rules/backtest', body);
  assert.equal(status, 200, text);
  const answer = JSON.parse(text) as BacktestAnswer;
  // At the end of minutes 2, 4 and 7; those between are within 120 s of the one before.
  const fired = [2, 4, 6].map((at) => ({
    timestamp: OPEN_MS + (at + 1) * 60_000,
    event: 'AAA',
    data: { latestPrice: CLOSES[at] },
  }));
  assert.deepEqual(answer.firings, fired);
  expect(answer).toMatchObject({ step: 'minute', instants: 8, alerts: 3, messages: 303 });
  expect(answer.conditions).toEqual([
    {
      condition: ['latestPrice', '>', 12],
      held: 5,
      nearest: {
        missing: expect.closeTo(0.1),
        timestamp: OPEN_MS + 6 * 6e4,
      },
    },
  ]);
  const usage = (await rules.get('/account/usage/messages')) as { keyUsage: object };
  expect(usage.keyUsage).toEqual({ BACKTEST: 8 });
  assert.deepEqual(await rules.get('/rules'), [], 'nothing was created');
});

test('days: at their closes', async () => {
  await using rules = await openRuleServer();
  const body = {
    ruleSet: 'ANYEVENT',
    symbols: ['AAA', 'BBB'],
    ruleName: 'up',
    step: 'day',
    conditions: [['changePercent', '>=', 0.1]],
  };
  const { text } = await rules.post('/rules/backtest', body);
  const answer = JSON.parse(text) as BacktestAnswer;
  expect(answer.firings).toEqual([
    {
      timestamp: Date.parse('2024-02-28T21:00:00Z'),
      event: 'AAA',
      data: { changePercent: 0.1 },
    },
  ]);
  const none = await rules.post('/rules/backtest', {
    ...body,
    from: '2023-01-01',
    to: '2023-01-02',
  });
  expect(JSON.parse(none.text)).toMatchObject({
    instants: 0,
    alerts: 0,
    conditions: [
      {
        condition: ['changePercent', '>=', 0.1],
        held: 0,
        nearest: null,
      },
    ],
  });
  for (const [more, rule] of [
    [{ symbols: undefined }, /symbols is required/],
    [{ from: '2024-03-01', to: '2024-02-01' }, /to must not be before from/],
    [{ from: '2023-01-01', step: 'minute' }, /at most 31 days by minute/],
    [{ from: 'yesterday' }, /from/],
    [
      {
        from: '2024-02-01',
        to: '2024-02-29',
        step: 'minute',
        symbols: Array.from({ length: 20 }, (_, at) => `S${at}`),
      },
      /symbols times days is at most 500 by minute, not 580/,
    ],
  ] as const) {
    const refused = await rules.post('/rules/backtest', { ...body, ...more });
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, rule);
  }
});

test('over the bars of others its price is bound by the catalog; its format is checked first', async () => {
  await using rules = await openRuleServer();
  const { accounts } = rules.server.tapedeck.services;
  const other = await accounts.createAccount('other', 'scale');
  const { text: token } = await accounts.createToken(other, 'secret');
  const body = {
    ruleSet: 'AAA',
    ruleName: 'up',
    step: 'day',
    from: '2024-02-01',
    conditions: [['latestPrice', '>', 1]],
  };
  const priceOf = async (query: string): Promise<unknown> => {
    const url = `${rules.server.base}/v1/rules/backtest?${query}&token=${token}`;
    const answer = await fetch(url, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    return answer.status === 200 ? JSON.parse(text) : `${answer.status} ${text}`;
  };
  // AAA has two days of the four in the file.
  expect(await priceOf('estimate=true')).toMatchObject({ objects: 4, weight: 10 });
  expect(await priceOf('maxMessages=1')).toMatch(/^402 .*may cost/);
  expect(await priceOf('format=arrow')).toMatch(/^400 .*format/);
  expect(await priceOf('')).toMatchObject({ instants: 2 });
  expect(rules.server.tapedeck.services.ledger.balance(other).used).toBe(20);
});

test('a bound over the minutes of others is never below the charge', async () => {
  await using rules = await openRuleServer();
  const lines = Array.from({ length: 120 }, (_, at) => {
    const clock = new Date((9 * 60 + 30 + at) * 60_000).toISOString().slice(11, 16);
    return `AAA,2024-02-28,${clock},11,11,11,11,10`;
  });
  const url = `${rules.server.base}/v1/data/CORE/INTRADAY_PRICES?wait=true&token=${rules.server.secret}`;
  const csv = `symbol,date,minute,open,high,low,close,volume\n${lines.join('\n')}\n`;
  const loaded = await fetch(url, { method: 'POST', body: csv });
  assert.equal(loaded.status, 200, await loaded.text());
  const { accounts, ledger } = rules.server.tapedeck.services;
  const other = await accounts.createAccount('other', 'scale');
  const { text: token } = await accounts.createToken(other, 'secret');
  const body = JSON.stringify({
    ruleSet: 'AAA',
    ruleName: 'up',
    step: 'minute',
    from: '2024-02-28',
    to: '2024-02-28',
    conditions: [['latestPrice', '>', 1]],
  });
  const post = (query: string): Promise<Response> =>
    fetch(`${rules.server.base}/v1/rules/backtest?token=${token}${query}`, {
      method: 'POST',
      body,
    });
  const { messages } = (await (await post('&estimate=true')).json()) as {
    readonly messages: number;
  };
  const refused = await post(`&maxMessages=${messages - 1}`);
  assert.equal(refused.status, 402, await refused.text());
  assert.equal(ledger.balance(other).used, 0);
  const answer = await post(`&maxMessages=${messages}`);
  assert.equal(answer.status, 200, await answer.text());
  const { used } = ledger.balance(other);
  assert.ok(used === 120 && used <= messages, `${used} charged, ${messages} estimated`);
});
