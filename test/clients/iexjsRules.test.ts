// The official JavaScript client, unmodified, at the rules: its requests are answered; bodies that it forgets
// to encode are refused with a reason.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRuleServer, type RuleServer } from '../api/rules/ruleServer.ts';
import { type Client, iexjs } from './iexjs.ts';

type Methods = Readonly<Record<string, (...options: readonly unknown[]) => Promise<unknown>>>;

let rules: RuleServer;
let client: Client & Methods;
let id = '';

beforeAll(async () => {
  rules = await openRuleServer();
  iexjs.overrideUrl({ url: `${rules.server.base}/v1/` });
  const clientOptions = { api_token: rules.server.secret, version: 'v1' };
  client = new iexjs.Client(clientOptions) as Client & Methods;
  id = await rules.create({
    ruleSet: 'AAA',
    ruleName: 'of the client',
    conditions: [['latestPrice', '>', 1]],
    outputs: [
      {
        method: 'logs',
        frequency: 60,
      },
    ],
  });
});
afterAll(async () => {
  iexjs.overrideUrl({});
  await rules[Symbol.asyncDispose]();
});

interface Schema {
  readonly schema: readonly { readonly value: string; readonly isLookup: boolean }[];
  readonly notificationTypes: readonly { readonly value: string; readonly weight: number }[];
  readonly operators: Readonly<Record<string, readonly { readonly value: string }[]>>;
}

test('schema and lookup', async () => {
  const { notificationTypes, operators, schema } = (await client['schema']?.({})) as Schema;
  const weights = Object.fromEntries(notificationTypes.map(({ value, weight }) => [value, weight]));
  expect(weights).toMatchObject({ webhook: 100, googlefunctions: 1_000, email: 20_000 });
  expect(schema.find(({ value }) => value === 'latestPrice')).toEqual({
    label: 'Symbol: Latest Price',
    value: 'latestPrice',
    type: 'number',
    scope: 'state',
    isLookup: false,
    weight: 1,
    weightKey: 'STOCK_QUOTE',
  });
  expect(operators['number']?.map(({ value }) => value)).toContain('>=');
  expect(await client['lookup']?.('sector', {})).toEqual([]);
});

test('rule, rules and output', async () => {
  const ruleView = { id, name: 'of the client', event: 'AAA', isActive: true, sent: 1 };
  expect(await client['rule']?.(id, {})).toMatchObject([ruleView]);
  expect(await client['rules']?.({})).toMatchObject([ruleView]);
  expect(await client['output']?.(id, {})).toMatchObject([{ id, data: { latestPrice: 11 } }]);
});

// The token is in the body, which it sends as the text [object Object].
test('bodies that it does not encode are refused with a reason', async () => {
  const rule = { conditions: [['latestPrice', '>', 1]], outputs: [] };
  const creation = client['create']?.(rule, 'name', 'AAA', 'any', undefined, {});
  await assert.rejects(async () => creation, /401/);
  await assert.rejects(async () => client['pause']?.(id, {}), /401/);
  await assert.rejects(async () => client['resume']?.(id, {}), /401/);
});

test('delete', async () => {
  assert.equal(await client['delete']?.(id, {}), true);
  assert.deepEqual(await client['rules']?.({}), []);
});
