// The operator's workspace CORE: all reads of it, at every level of access, by accounts of
// every tier, with and without grants and premium messages. Also the other permissions of tiers.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import type { Access } from '../../../store/lake/datasets/datasets.ts';
import { TIER_NAMES } from '../../../store/accounts/tiers.ts';
import type { TokenKind, TokenSettings } from '../../../store/accounts/tokens.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { type Request, requestOf, type Target, type Way, WAYS } from './matrixCases.ts';
import { ask, each, judge } from './matrixJudge.ts';
import { makeOwner, publish, type Owner, targetOf } from './matrixOwner.ts';
import {
  foreign,
  may,
  namesWorkspace,
  OF_PREMIUM,
  SECRET,
  describeFailure,
  type Verdict,
} from './matrixRules.ts';

const CORE = 'CORE';
const SHARED = 'SHARED';

/** An account that reads CORE through a token of its own. */
interface Reader {
  readonly name: string;
  readonly tier: string;
  readonly kind?: TokenKind;
  readonly settings?: Partial<TokenSettings>;
  /** Premium messages of a month. */
  readonly premium?: number;
  /** True if the premium messages are used up. */
  readonly spent?: true;
  /** True if the dataset is granted to the account. */
  readonly granted?: true;
  /** True for the owner of the workspace. */
  readonly operator?: true;
}

const PREMIUM = 1_000_000;
const READERS: readonly Reader[] = [
  ...TIER_NAMES.map((tier) => ({ name: tier, tier })),
  { name: 'secret', tier: 'scale', kind: 'secret' },
  { name: 'secret without rights', tier: 'scale', kind: 'secret', settings: { grants: [] } },
  { name: 'premium', tier: 'scale', premium: PREMIUM },
  { name: 'small premium', tier: 'launch', premium: PREMIUM },
  { name: 'premium spent', tier: 'scale', premium: 1, spent: true },
  { name: 'no premium', tier: 'scale', premium: PREMIUM, settings: { premium: false } },
  { name: 'granted', tier: 'scale', granted: true },
  { name: 'small granted', tier: 'free', granted: true },
  {
    name: 'all but CORE',
    tier: 'scale',
    premium: PREMIUM,
    granted: true,
    settings: { core: false },
  },
  { name: 'operator', tier: 'scale', kind: 'secret', operator: true },
];

const ACCESSES: readonly Access[] = [
  { level: 'open' },
  { level: 'open', tier: 'launch' },
  { level: 'open', tier: 'grow' },
  { level: 'open', tier: 'scale' },
  { level: 'premium' },
  { level: 'premium', tier: 'grow' },
  { level: 'restricted', tier: 'launch' },
  { level: 'enterprise' },
];

let server: TestServer;
let operator: Owner;
beforeAll(async () => {
  server = await startServer();
  operator = await makeOwner(server, server.tapedeck.accountId, 'A', '424242');
});
afterAll(() => server.close());

const sendRequest = (
  token: string,
  method: Request['method'],
  path: string,
  body?: string,
): ReturnType<typeof ask> => ask({ method, path, body }, { base: server.base, token });

const newAccount = async (name: string, tier: string): Promise<string> =>
  server.tapedeck.services.accounts.createAccount(name, tier);

const newToken = async (
  accountId: string,
  kind: TokenKind,
  settings: Partial<TokenSettings> = {},
): Promise<string> =>
  (await server.tapedeck.services.accounts.createToken(accountId, kind, settings)).text;

test('CORE belongs to the first account, which may create it again, and only by that name', async () => {
  const other = await newToken(await newAccount('other', 'scale'), 'secret');
  const make = async (token: string, name: string): Promise<number> =>
    (await sendRequest(token, 'POST', '/workspaces', JSON.stringify({ name }))).status;
  for (const name of ['CORE', 'core', 'Core']) assert.equal(await make(other, name), 400, name);
  assert.equal(await make(operator.secret, 'core'), 400);
  assert.equal(await make(operator.secret, CORE), 200);
  assert.equal(await make(operator.secret, CORE), 200);
  const { directory } = server.tapedeck.services.lake;
  assert.equal(directory.workspace('core')?.accountId, server.tapedeck.accountId);
  assert.equal(await make(other, CORE), 400);
  const body = 'symbol,kind,date,v\nKEY,SUB,2024-01-01,7\n';
  const load = `/data/${CORE}/${SHARED}?wait=true&key=symbol&subkey=kind&date=date`;
  const { status, text } = await sendRequest(operator.secret, 'POST', load, body);
  assert.equal(status, 200, text);
  await publish(server, { ...operator, target: target() });
});

const target = (): Target => ({
  ...targetOf(operator),
  workspace: CORE,
  id: SHARED,
  key: 'KEY',
  subkey: 'SUB',
});

test('nobody else changes or manages CORE', async () => {
  const accountId = await newAccount('changes', 'scale');
  const spare = operator.target;
  const owner = { ...operator, target: target() };
  const rights = ['read', 'write', 'delete'] as const;
  const settings = { grants: [{ datasets: `${CORE}.*`, rights }] };
  const grips = [SECRET, { kind: 'publishable', rights: [], changes: true } as const];
  for (const grip of grips) {
    const more = grip === SECRET ? {} : settings;
    const manner = { base: server.base, token: await newToken(accountId, grip.kind, more) };
    const rule = (way: Way): Verdict => {
      const reads = ['lists', 'read', 'inspect'].includes(way.testCase.reach);
      return reads ? may({ ...grip, rights })(way) : foreign(grip)(way);
    };
    await judge(server, { name: `CORE, ${grip.kind}`, owner, spare, manner, rule });
  }
});

/** The entitlement of an account: the first missing requirement is returned. */
function entitled(access: Access, reader: Reader): Verdict {
  const { tier, settings = {}, premium = 0, granted = false } = reader;
  if (reader.operator === true) return 'allowed';
  if (settings.core === false) return 'Restricted';
  if (access.tier !== undefined && TIER_NAMES.indexOf(tier) < TIER_NAMES.indexOf(access.tier)) {
    return tier === 'free' ? 'FreeTierNotAllowed' : 'TierNotAllowed';
  }
  const pays = premium > 0 && settings.premium !== false;
  if (access.level === 'premium') return pays ? 'allowed' : 'Restricted';
  if (access.level === 'open' || granted) return 'allowed';
  return access.level === 'restricted' ? 'Restricted' : 'EnterprisePermissionRequired';
}

function verdictOf(way: Way, access: Access, reader: Reader): Verdict {
  const { reach, metered = false } = way.testCase;
  const { kind = 'publishable', settings = {}, spent = false } = reader;
  if (reach === 'lists') return 'allowed';
  if (reach === 'inspect' && kind === 'publishable') return 'SecretKeyRequired';
  // An id alone is searched in CORE, then in the own workspace, where these accounts have nothing.
  if (settings.core === false && !namesWorkspace(way)) return 'NotFound';
  const verdict = entitled(access, reader);
  const isFree = reader.operator !== true && reader.tier === 'free';
  if (verdict === 'allowed' && way.testCase.streams === true && isFree) return 'FreeTierNotAllowed';
  const broke = verdict === 'allowed' && metered && access.level === 'premium' && spent;
  return broke ? 'OverLimit' : verdict;
}

const READS = WAYS.filter(({ testCase: { reach } }) =>
  ['lists', 'read', 'inspect'].includes(reach),
);

/** Creates the account of the reader and returns its token. */
async function tokenOf(reader: Reader): Promise<string> {
  if (reader.operator === true) return operator.secret;
  const { name, tier, kind = 'publishable', settings, premium = 0, granted } = reader;
  const accountId = await newAccount(name, tier);
  const grants = granted === true ? [SHARED.toLowerCase()] : [];
  const { accounts } = server.tapedeck.services;
  await accounts.changeAccount(accountId, { premiumMessages: premium, grants });
  const token = await newToken(accountId, kind, settings);
  if (reader.spent === true) {
    await open({ level: 'premium' });
    assert.equal((await sendRequest(token, 'GET', `/data/${CORE}/${SHARED}`)).premium, '1');
  }
  return token;
}

async function open(access: Access): Promise<void> {
  const body = JSON.stringify({ access });
  for (const [method, path] of [
    ['PATCH', `/datasets/${CORE}/${SHARED}`],
    ['PUT', `/file-types/${CORE}/${SHARED}`],
  ] as const) {
    const { status, text } = await sendRequest(operator.secret, method, path, body);
    assert.equal(status, 200, text);
  }
}

test('all reads of CORE, at every level, by every account', async () => {
  const tokens = new Map<Reader, string>();
  for (const reader of READERS) tokens.set(reader, await tokenOf(reader));
  const wrong: string[] = [];
  for (const access of ACCESSES) {
    await open(access);
    const cells = READS.flatMap((way) => READERS.map((reader) => ({ way, access, reader })));
    await each(cells, async (cell) => {
      const request = requestOf(cell.way, target());
      const answer = await ask(request, { base: server.base, token: tokens.get(cell.reader) });
      const { level, tier = '' } = access;
      const name = `${cell.reader.name}, ${level} ${tier}: ${request.method} ${request.path}`;
      if (!isRight(cell, answer))
        wrong.push(`${name}: ${answer.status} ${answer.text.slice(0, 200)}`);
    });
  }
  assert.deepEqual(wrong, []);
});

function isRight(
  { way, access, reader }: { way: Way; access: Access; reader: Reader },
  { status, text, type, cost, premium }: Awaited<ReturnType<typeof ask>>,
): boolean {
  const verdict = verdictOf(way, access, reader);
  if (verdict !== 'allowed') {
    const failure = describeFailure(verdict, way, verdict === 'OverLimit' ? OF_PREMIUM : undefined);
    const same = failure.status === status && failure.type === type && failure.text.test(text);
    return same && cost === null && premium === null;
  }
  const dear = access.level === 'premium' && reader.operator !== true;
  const price = way.testCase.metered === true && way.testCase.streams !== true ? 1 : 0;
  const costs = cost === String(dear ? 0 : price) && premium === String(dear ? price : 0);
  if (status !== (way.testCase.answers ?? 200) || !costs) return false;
  if (way.testCase.reach !== 'lists') return true;
  return text.includes(`"${SHARED}"`) === (entitled(access, reader) === 'allowed');
}

test('signed tokens: tiers grow and scale only', async () => {
  const ways = WAYS.filter(({ route }) => route === '/account/signed');
  assert.equal(ways.length, 2);
  for (const tier of TIER_NAMES) {
    const accountId = await newAccount(`signs ${tier}`, tier);
    const token = await newToken(accountId, 'secret');
    const own = await newToken(accountId, 'publishable');
    for (const way of ways) {
      const request = requestOf(way, { ...target(), signable: own, signed: own });
      const { status, text } = await ask(request, { base: server.base, token });
      if (tier === 'grow' || tier === 'scale') assert.equal(status, 200, `${tier}: ${text}`);
      else {
        const failure = describeFailure(
          tier === 'free' ? 'FreeTierNotAllowed' : 'TierNotAllowed',
          way,
        );
        assert.equal(status, failure.status, `${tier}: ${text}`);
        assert.match(text, failure.text);
      }
    }
    const signs = server.tapedeck.services.accounts.signingSecret(own) !== undefined;
    assert.equal(signs, tier === 'grow' || tier === 'scale', tier);
  }
});

test('pay-as-you-go: not for free accounts, in any form of the request', async () => {
  const { accounts } = server.tapedeck.services;
  for (const tier of TIER_NAMES) {
    const accountId = await newAccount(`pays ${tier}`, tier);
    const token = await newToken(accountId, 'secret');
    for (const path of ['/account/payasyougo', '/account/messagebudget']) {
      await accounts.changeAccount(accountId, { payAsYouGo: false });
      const body = JSON.stringify({ allow: true });
      const answers = [
        await sendRequest(token, 'POST', `${path}?allow=true`),
        await sendRequest(token, 'POST', path, body),
      ].map(({ status }) => status);
      assert.deepEqual(answers, tier === 'free' ? [402, 402] : [200, 200], `${tier} ${path}`);
      assert.equal(accounts.account(accountId)?.payAsYouGo, tier !== 'free', tier);
      assert.equal((await sendRequest(token, 'POST', `${path}?allow=false`)).status, 200);
    }
  }
});
