// All requests of every row, with valid tokens of an account in every state that an account can be
// in: suspended, budget reached, quota used up, circuit breaker engaged, token's own limit reached.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { READ_ALL } from '../../../store/accounts/tokens.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import type { Request, Target } from './matrixCases.ts';
import { ask, judge, type State } from './matrixJudge.ts';
import { makeOwner, type Owner, tokensOf } from './matrixOwner.ts';
import {
  badToken,
  may,
  OF_CEILING,
  OF_TOKEN,
  type Rule,
  SECRET,
  stopped,
  testing,
  unpaid,
} from './matrixRules.ts';

/** Messages of tier `grow` in a month, and the maximum price of one record. */
const QUOTA = 100_000_000;
const WEIGHT_MAX = 1_000_000;

const READER = may({ kind: 'publishable', rights: ['read'] });

let server: TestServer;
let owner: Owner;
let spare: Pick<Target, 'accountId' | 'tokenId'>;
beforeAll(async () => {
  server = await startServer({ settings: { TAPEDECK_SANDBOX_PORT: '0' } });
  const { accounts } = server.tapedeck.services;
  owner = await makeOwner(server, await accounts.createAccount('C', 'grow'), 'C', '535353');
  const accountId = await accounts.createAccount('spare', 'scale');
  const { tokenId } = await accounts.createToken(accountId, 'publishable');
  spare = { accountId, tokenId };
  const dates = Array.from({ length: QUOTA / WEIGHT_MAX }, (_, at) => `K,${2000 + at}-01-01\n`);
  const { workspace } = owner.target;
  const body = `symbol,date\n${dates.join('')}`;
  assert.equal(await requestStatus('POST', `/data/${workspace}/HEAVY?wait=true`, body), 200);
  const dear = JSON.stringify({ weight: WEIGHT_MAX });
  assert.equal(await requestStatus('PATCH', `/datasets/${workspace}/HEAVY`, dear), 200);
});
afterAll(() => server.close());

async function requestStatus(
  method: Request['method'],
  path: string,
  body?: string,
  token = owner.secret,
): Promise<number> {
  return (await ask({ method, path, body }, { base: server.base, token })).status;
}

const reads = (query: string, id = owner.target.id): Promise<number> =>
  requestStatus('GET', `/data/${owner.target.workspace}/${id}?${query}`);

/** Changes the account as the operator; settings that are left out are those of a regular account. */
async function set(settings: object): Promise<void> {
  const order = { suspended: false, payAsYouGo: true, budget: null, circuitBreaker: null };
  const path = `/admin/accounts/${owner.accountId}`;
  const body = JSON.stringify({ ...order, ...settings });
  const token = server.tapedeck.services.adminToken;
  assert.equal(await requestStatus('PATCH', path, body, token), 200);
  // Rules that the account cannot pay for are paused now, and not at some time during the checks.
  await server.tapedeck.services.rules.runChecks();
}

const used = (): number => server.tapedeck.services.ledger.balance(owner.accountId).used;

/** Judges both kinds of tokens in the state that `settings` cause. */
async function judged(
  name: string,
  ruled: (rule: Rule) => Rule,
  settings: object,
  sentences: State['sentences'] = {},
): Promise<void> {
  const common = { owner, spare, engage: () => set(settings), sentences };
  for (const [kind, rule] of Object.entries({ secret: may(SECRET), publishable: READER })) {
    const token = kind === 'secret' ? owner.secret : owner.publishable;
    const manner = { base: server.base, token };
    await judge(server, { ...common, name: `${name}, ${kind}`, rule: ruled(rule), manner });
  }
}

const whole = (rule: Rule): Rule => rule;

test('a suspended account, and the same account reactivated', async () => {
  await judged('suspended', () => badToken('Inactive'), { suspended: true });
  await judged('taken up again', whole, {});
});

test('at the budget all requests are refused except those that can change it', async () => {
  assert.equal(await reads('last=1'), 200);
  const over = (rule: Rule): Rule => stopped('OverLimit', rule);
  await judged('reached', over, { budget: used() }, { OverLimit: OF_CEILING });
  await judged('none at all', over, { budget: 0 }, { OverLimit: OF_CEILING });
  await set({});
  const own = `/account/messagebudget?totalMessages=${used() + 1}`;
  assert.equal(await requestStatus('POST', own), 200);
  assert.equal(await reads('last=1'), 200, 'the last message');
  assert.equal(await requestStatus('GET', '/workspaces'), 402, 'then all requests are refused');
  assert.equal(await requestStatus('DELETE', '/account/messagebudget'), 200);
  assert.equal(await requestStatus('GET', '/workspaces'), 200, 'until the budget is removed');
});

test("a token's own limit: requests with a price are refused, and only with this token", async () => {
  const { accounts } = server.tapedeck.services;
  await set({});
  const settings = { messageLimit: 0, grants: READ_ALL };
  const { text: token } = await accounts.createToken(owner.accountId, 'publishable', settings);
  const manner = { base: server.base, token };
  const sentences = { OverLimit: OF_TOKEN };
  await judge(server, { name: 'limit', rule: unpaid(READER), owner, spare, manner, sentences });
  assert.equal(await reads('last=1'), 200);
});

test('over quota without pay-as-you-go: requests with a price are refused, free ones are not', async () => {
  await set({});
  assert.equal(await reads('last=100', 'HEAVY'), 200);
  assert.ok(used() > QUOTA, String(used()));
  await judged('over quota', unpaid, { payAsYouGo: false });
  await judged('a breaker is no way around', unpaid, { payAsYouGo: false, circuitBreaker: QUOTA });
  await set({ payAsYouGo: false });
  const statuses = await Promise.all(
    ['last=1', 'estimate=true', 'schema=true'].map((query) => reads(query)),
  );
  assert.deepEqual(statuses, [402, 200, 200], 'a price and a schema are free');
  await judged('pay-as-you-go', whole, {});
});

test('the engaged circuit breaker refuses all requests except those that can release it', async () => {
  await set({});
  assert.ok(used() > QUOTA, String(used()));
  const broken = (rule: Rule): Rule => stopped('CircuitBreaker', rule);
  await judged('engaged', broken, { circuitBreaker: used() - QUOTA });
  await set({ circuitBreaker: used() - QUOTA + 1 });
  assert.equal(await reads('last=1'), 200, 'the last message');
  assert.equal(await requestStatus('GET', '/workspaces'), 403, 'then all requests are refused');
  assert.equal(await requestStatus('POST', '/account/payasyougo?allow=false'), 200);
  assert.equal(
    await requestStatus('GET', '/workspaces'),
    200,
    'free requests, without pay-as-you-go',
  );
  assert.equal(await reads('last=1'), 402);
});

test('the test environment has no quota, budget or breaker, but suspension', async () => {
  const tokens = await tokensOf(server, owner.accountId, true);
  const token = tokens.find(({ kind }) => kind === 'secret')?.text;
  const manner = { base: server.tapedeck.sandbox ?? '', token };
  const common = { owner, spare, manner };
  const engage = (): Promise<void> => set({ budget: 0, circuitBreaker: 0 });
  await judge(server, { ...common, name: 'stopped', rule: testing(may(SECRET)), engage });
  await set({ suspended: true });
  const { status, text } = await ask(
    { method: 'GET', path: '/time-series', body: undefined },
    manner,
  );
  assert.deepEqual([status, text], [403, 'The account is inactive']);
});
