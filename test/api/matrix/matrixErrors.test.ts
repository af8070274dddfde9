// The errors of SPEC.md: all exist, are distinct, and are each reached by a request. Also requests
// above the rate limits, for every row.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { FAILURES } from '../../../reads/request/failures.ts';
import type { FailureType } from '../../../store/base/failure.ts';
import type { TokenSettings } from '../../../store/accounts/tokens.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import type { Request } from './matrixCases.ts';
import { ask, judge, type Manner, signer } from './matrixJudge.ts';
import { makeOwner, type Owner, tokensOf } from './matrixOwner.ts';
import { SPEC_ERRORS } from './matrixErrors.ts';
import { badToken } from './matrixRules.ts';

/** Requests of one address in a second (SPEC.md "Limits"), and of one token of tier free. */
const ADDRESS_RATE = 100;
const TOKEN_RATE = 50;

const PROBLEM = 'application/problem+json';

let server: TestServer;
let owner: Owner;
let broken = false;
beforeAll(async () => {
  server = await startServer({
    settings: {
      TAPEDECK_SANDBOX_PORT: '0',
      TAPEDECK_RATE_LIMIT: 'on',
      TAPEDECK_TRUSTED_PROXIES: '127.0.0.1',
    },
    seams: {
      // The clock of the rates is stopped, so that used requests do not grow back.
      monotonic: () => 0,
      at: (point) => {
        if (broken && point === 'transaction-open') throw new Error('broken on purpose');
      },
    },
  });
  owner = await makeOwner(server, server.tapedeck.accountId, 'A', '424242');
});
afterAll(() => server.close());

let addresses = 0;

/** Each request has an address of its own, so that no address exceeds its rate. */
const elsewhere = (): Record<string, string> => {
  addresses += 1;
  return {
    'x-forwarded-for': `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`,
  };
};

interface Way {
  readonly path?: string;
  readonly token?: string;
  readonly more?: Partial<Manner> & Partial<Pick<Request, 'method' | 'body'>>;
}

const createAccountToken = async (
  tier: string,
  settings: Partial<TokenSettings> = {},
): Promise<{ readonly token: string; readonly accountId: string; readonly tokenId: string }> => {
  const { accounts } = server.tapedeck.services;
  const accountId = await accounts.createAccount(tier, tier);
  const { text, tokenId } = await accounts.createToken(accountId, 'secret', settings);
  return { token: text, accountId, tokenId };
};

/** One request for each error, created on use. */
const WAYS_TO: Readonly<Partial<Record<FailureType, () => Promise<Way>>>> = {
  IncorrectValues: async () => ({ path: '/data/%E0%A4%A' }),
  NoSymbol: async () => ({ token: owner.secret, path: '/stock/market/batch?types=quote' }),
  TypeRequired: async () => ({ token: owner.secret, path: '/stock/A/batch?types=none' }),
  MaxTypes: async () => {
    const types = Array.from({ length: 11 }, (_, at) => `type-${at}`);
    return { token: owner.secret, path: `/stock/A/batch?types=${types.join(',')}` };
  },
  UnknownSymbol: async () => {
    await makeCore();
    return { token: owner.secret, path: '/stock/NONE/quote' };
  },
  AuthorizationRestricted: async () => signedWay((secret) => signer(secret, 0)),
  AuthorizationRequired: async () => signedWay(() => undefined),
  AuthorizationInvalid: async () => {
    const { clock } = server.tapedeck.services;
    return signedWay((secret) => signer(`${secret}0`, clock()));
  },
  Restricted: async () => ({ token: (await createAccountToken('scale', { grants: [] })).token }),
  NoKey: async () => ({}),
  SecretKeyRequired: async () => ({ token: owner.publishable }),
  DeniedReferer: async () => {
    const { token } = await createAccountToken('scale', { referrers: ['https://good.example'] });
    return { token };
  },
  OverLimit: async () => {
    await makeCore();
    const { accountId, token } = await createAccountToken('launch');
    const { accounts, ledger } = server.tapedeck.services;
    const { tier } = await accounts.changeAccount(accountId, { payAsYouGo: false });
    const order = { requestId: 'r', endpoint: 'e', usageKey: 'k', weight: 1, premium: false };
    const used = tier.messagesMonthly;
    ledger.settle(ledger.hold(accounts.identify(token), order, used), used).confirm();
    return { token, path: '/data/CORE/QUOTE' };
  },
  FreeTierNotAllowed: async () => ({
    ...(await createAccountToken('free')),
    path: '/account/signed',
  }),
  TierNotAllowed: async () => ({
    ...(await createAccountToken('launch')),
    path: '/account/signed',
  }),
  DisabledKey: async () => {
    const { accountId, token, tokenId } = await createAccountToken('scale');
    await server.tapedeck.services.accounts.rotateToken(accountId, tokenId);
    return { token };
  },
  InvalidKey: async () => ({ token: 'sk_99999999999999999999999999999999' }),
  TestTokenInProduction: async () => {
    const [first] = await tokensOf(server, owner.accountId, true);
    return { token: first?.text ?? '' };
  },
  ProductionTokenInSandbox: async () => ({
    token: owner.secret,
    more: { base: server.tapedeck.sandbox ?? '' },
  }),
  CircuitBreaker: async () => {
    const { accountId, token } = await createAccountToken('launch');
    const { accounts, ledger } = server.tapedeck.services;
    const account = await accounts.changeAccount(accountId, { circuitBreaker: 0 });
    const order = { requestId: 'r', endpoint: 'e', usageKey: 'k', weight: 1, premium: false };
    const used = account.tier.messagesMonthly;
    ledger.settle(ledger.hold(accounts.identify(token), order, used), used).confirm();
    return { token };
  },
  Inactive: async () => {
    const { accountId, token } = await createAccountToken('scale');
    await server.tapedeck.services.accounts.changeAccount(accountId, { suspended: true });
    return { token };
  },
  NotFound: async () => ({ token: owner.secret, path: '/data/NOWHERE/NOTHING' }),
  TooManyRequests: async () => {
    const headers = (): Record<string, string> => ({ 'x-forwarded-for': '192.0.2.1' });
    await exhaust({ headers }, ADDRESS_RATE);
    return { more: { headers } };
  },
  EnterprisePermissionRequired: async () => {
    await makeCore();
    return { token: (await createAccountToken('scale')).token, path: '/data/CORE/CLOSED' };
  },
  SystemError: async () => {
    broken = true;
    const body = JSON.stringify({ name: 'BROKEN' });
    return { token: owner.secret, path: '/workspaces', more: { method: 'POST', body } };
  },
};

async function signedWay(sign: (secret: string) => Manner['sign']): Promise<Way> {
  const { accountId, token } = await createAccountToken('scale');
  const signed = sign(await server.tapedeck.services.accounts.signToken(accountId, token));
  return { token, more: signed === undefined ? {} : { sign: signed } };
}

async function makeCore(): Promise<void> {
  const { accounts, lake } = server.tapedeck.services;
  if (lake.directory.dataset('CORE', 'CLOSED') !== undefined) return;
  assert.equal(accounts.list()[0]?.accountId, owner.accountId);
  const dataset = {
    datasetId: 'CLOSED',
    access: { level: 'enterprise' },
    schema: { properties: { v: { type: 'number' } } },
  };
  const quotes = {
    datasetId: 'QUOTE',
    schema: { properties: { symbol: { type: 'string' } } },
    columnMapping: { key: 'symbol' },
  };
  for (const [path, value] of [
    ['/datasets/CORE', { dataset }],
    ['/datasets/CORE', { dataset: quotes }],
  ] as const) {
    const request = { method: 'POST', path, body: JSON.stringify(value) } as const;
    const manner = { base: server.base, token: owner.secret, headers: elsewhere };
    const { status, text } = await ask(request, manner);
    assert.equal(status, 200, text);
  }
}

/** Uses up a rate, to the last request. */
async function exhaust(more: Partial<Manner>, requests: number, path = '/status'): Promise<void> {
  const request = { method: 'GET', path, body: undefined } as const;
  const manner = { base: server.base, headers: elsewhere, ...more };
  const answers = await Promise.all(Array.from({ length: requests }, () => ask(request, manner)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
}

test('all errors exist, and no two are alike', () => {
  assert.equal(SPEC_ERRORS.length, 25);
  assert.equal(new Set(SPEC_ERRORS.map(({ type }) => type)).size, 25);
  const looks = SPEC_ERRORS.map(({ type }) => `${FAILURES[type].status} ${FAILURES[type].text}`);
  assert.equal(new Set(looks).size, 25, looks.join('\n'));
  const wrong = SPEC_ERRORS.filter(({ status, type }) => FAILURES[type].status !== status);
  assert.deepEqual(wrong, []);
});

test('each error is reached, as its sentence and as problem details', async () => {
  for (const { name, status, type } of SPEC_ERRORS) {
    const way = await WAYS_TO[type]?.();
    assert.ok(way !== undefined, `${name}: it needs a request in WAYS_TO`);
    const { method = 'GET', body, ...more } = way.more ?? {};
    const request = { method, path: way.path ?? '/workspaces', body };
    const manner = { base: server.base, token: way.token, headers: elsewhere, ...more };
    const plain = await ask(request, manner);
    const { headers = elsewhere } = manner;
    const accept = (): Record<string, string> => ({ ...headers(), accept: PROBLEM });
    const problem = await ask(request, { ...manner, headers: accept });
    broken = false;
    const sentence = type === 'Restricted' ? plain.text.replace(/ The token .*$/, '') : plain.text;
    assert.deepEqual([plain.status, sentence], [status, FAILURES[type].text], name);
    assert.ok(problem.type.startsWith(PROBLEM), name);
    const problemBody = JSON.parse(problem.text) as Readonly<Record<string, unknown>>;
    const expected = { type: `urn:tapedeck:failure:${type}`, status, title: FAILURES[type].text };
    assert.deepEqual(
      { type: problemBody['type'], status: problemBody['status'], title: problemBody['title'] },
      expected,
    );
    assert.equal(plain.cost ?? problem.cost, null, name);
  }
});

test('an address above its rate: no request is answered, and the refusal has the time to retry', async () => {
  const headers = (): Record<string, string> => ({ 'x-forwarded-for': '192.0.2.2' });
  await exhaust({ headers }, ADDRESS_RATE);
  const manner = { base: server.base, token: owner.secret, headers };
  const rule = (): FailureType => 'TooManyRequests';
  await judge(server, { name: 'address', owner, spare: owner.target, manner, rule });
  const request = { method: 'GET', path: '/status', body: undefined } as const;
  assert.equal((await ask(request, manner)).retryAfter, '1');
});

test('a token above its rate is refused at every endpoint', async () => {
  const { token } = await createAccountToken('free');
  await exhaust({ token }, TOKEN_RATE, '/workspaces');
  const manner = { base: server.base, token, headers: elsewhere };
  const rule = badToken('TooManyRequests');
  await judge(server, { name: 'token', owner, spare: owner.target, manner, rule });
});
