// Every way to ask every row, with a token in every state that a token can be in.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { READ_ALL, type Right, type TokenKind, type TokenSettings } from '../../store/tokens.ts';
import { startServer, type TestServer } from '../server.ts';
import { requestOf, type Target, WAYS } from './matrixCases.ts';
import { ask, each, judge, type Manner, signer, type State } from './matrixJudge.ts';
import { makeOwner, type Owner, targetOf } from './matrixOwner.ts';
import {
  badToken,
  may,
  noToken,
  notHere,
  operator,
  type Rule,
  SECRET,
  testing,
} from './matrixRules.ts';

const UNKNOWN = 'sk_99999999999999999999999999999999';

let server: TestServer;
let owner: Owner;
let spare: Pick<Target, 'accountId' | 'tokenId'>;
before(async () => {
  server = await startServer({ settings: { TAPEDECK_SANDBOX_PORT: '0' } });
  const { accounts } = server.tapedeck.services;
  owner = await makeOwner(server, server.tapedeck.accountId, 'A', '424242');
  const accountId = await accounts.createAccount('spare', 'scale');
  const { tokenId } = await accounts.createToken(accountId, 'publishable');
  spare = { accountId, tokenId };
});
after(() => server.close());

/** A new token of the owner. */
const made = async (kind: TokenKind, settings: Partial<TokenSettings> = {}): Promise<string> =>
  (await server.tapedeck.services.accounts.createToken(owner.accountId, kind, settings)).text;

function judged(
  name: string,
  token: string | undefined,
  rule: Rule,
  more: Partial<Manner> & Pick<State, 'told'> = {},
): Promise<void> {
  const { told, ...manner } = more;
  const state = { name, owner, spare, rule, manner: { base: server.base, token, ...manner } };
  return judge(server, told === undefined ? state : { ...state, told });
}

/** The text of one of the owner's two tokens for tests. */
async function testToken(kind: TokenKind): Promise<string> {
  const tokens = await server.tapedeck.services.accounts.tokens(owner.accountId);
  const found = tokens.find((token) => token.test && token.kind === kind);
  assert.ok(found !== undefined, `no ${kind} token for tests`);
  return found.text;
}

const dataset = (): string => `${owner.target.workspace}.${owner.target.id}`;
const grants = (datasets: string, ...rights: readonly Right[]) => ({
  grants: [{ datasets, rights }],
});

test('no token', async () => {
  for (const version of ['v1', 'stable', 'latest', 'v1-beta']) {
    await judged(`none, ${version}`, undefined, noToken('NoKey'), { version });
  }
  await judged('an empty one', '', noToken('NoKey'));
});

test('HEAD is no way around a token', async () => {
  const reads = WAYS.filter(
    ({ asked, endpoint }) => endpoint.method === 'GET' && asked.reach !== 'nothing',
  );
  await each(reads, async (way) => {
    const { path } = requestOf(way, targetOf(owner));
    const { status } = await fetch(`${server.base}/v1${path}`, { method: 'HEAD' });
    assert.ok(status === 401 || status === 404, `${path}: ${status}`);
  });
});

test('an unknown token', async () => {
  await judged('other case', owner.secret.toUpperCase(), noToken('InvalidKey'));
  await judged('one too long', `${owner.secret}0`, noToken('InvalidKey'));
  await judged('very long', owner.secret.padEnd(4_000, '0'), noToken('InvalidKey'));
});

test("the operator's token", async () => {
  const { adminToken } = server.tapedeck.services;
  await judged('admin', adminToken, operator);
  await judged('admin, in the body', adminToken, operator, { place: 'body' });
});

test('a disabled token', async () => {
  for (const kind of ['publishable', 'secret'] as const) {
    const token = await made(kind, { disabled: true });
    await judged(`disabled, ${kind}`, token, badToken('DisabledKey'));
  }
});

test('a rotated token: the old text is disabled at once, the new one is as the old one was', async () => {
  const { accounts } = server.tapedeck.services;
  const old = await accounts.createToken(owner.accountId, 'secret');
  const request = { method: 'POST', path: `/account/tokens/${old.tokenId}/rotate` } as const;
  const manner = { base: server.base, token: old.text };
  const answer = await ask({ ...request, body: undefined }, manner);
  assert.equal(answer.status, 200, answer.text);
  const { token } = JSON.parse(answer.text) as { readonly token: string };
  await judged('rotated away', old.text, badToken('DisabledKey'));
  await judged('rotated in', token, may(SECRET));
});

test('a secret token, wherever it stands', async () => {
  for (const place of ['header', 'query', 'body'] as const) {
    await judged(`unknown, in the ${place}`, UNKNOWN, noToken('InvalidKey'), { place });
    await judged(`secret, in the ${place}`, owner.secret, may(SECRET), { place });
  }
});

test('a publishable token', async () => {
  const kind = 'publishable';
  await judged('without rights', await made(kind), may({ kind, rights: [] }));
  await judged(
    'reads all',
    await made(kind, { grants: READ_ALL }),
    may({ kind, rights: ['read'] }),
  );
  const write = await made(kind, grants(dataset(), 'write'));
  await judged('writes one', write, may({ kind, rights: ['write'], changes: true }));
  const remove = await made(kind, grants(dataset().toLowerCase(), 'delete'));
  await judged('deletes one', remove, may({ kind, rights: ['delete'], changes: true }));
  const all = ['read', 'write', 'delete'] as const;
  const whole = await made(kind, grants(`${owner.target.workspace}.*`, ...all));
  // Rows that make a dataset by loading into it are asked with the name of the one that is there.
  await judged('all of a workspace', whole, may({ kind, rights: all, changes: true }));
  const elsewhere = await made(kind, grants(`${dataset()}_`, ...all));
  await judged('another dataset', elsewhere, may({ kind, rights: [], changes: true }));
});

test('a secret token with rights on single datasets', async () => {
  const kind = 'secret';
  await judged('no right', await made(kind, { grants: [] }), may({ kind, rights: [] }));
  await judged(
    'reads all',
    await made(kind, { grants: READ_ALL }),
    may({ kind, rights: ['read'] }),
  );
  const write = await made(kind, grants(dataset(), 'read', 'write'));
  await judged('writes one', write, may({ kind, rights: ['read', 'write'] }));
  const remove = await made(kind, grants('*', 'delete'));
  await judged('deletes all', remove, may({ kind, rights: ['delete'] }));
});

test('a token for tests, in production', async () => {
  for (const kind of ['publishable', 'secret'] as const) {
    const token = await testToken(kind);
    assert.ok(token.startsWith(kind === 'secret' ? 'Tsk_' : 'Tpk_'), token.slice(0, 4));
    await judged(`test, ${kind}`, token, badToken('TestTokenInProduction'));
  }
});

test('the test environment', async () => {
  const { adminToken, ledger } = server.tapedeck.services;
  const base = server.tapedeck.sandbox ?? '';
  const used = ledger.balance(owner.accountId);
  const wrong = 'ProductionTokenInSandbox';
  await judged('no token', undefined, notHere('NoKey'), { base });
  await judged('unknown', UNKNOWN, notHere('InvalidKey'), { base });
  await judged('admin', adminToken, notHere('InvalidKey'), { base });
  await judged('production, publishable', owner.publishable, notHere(wrong), { base });
  await judged('production, secret', owner.secret, notHere(wrong), { base });
  const reader = may({ kind: 'publishable', rights: ['read'] });
  await judged('publishable', await testToken('publishable'), testing(reader), { base });
  await judged('secret', await testToken('secret'), testing(may(SECRET)), { base });
  assert.deepEqual(ledger.balance(owner.accountId), used, 'the test environment charges nothing');
});

test('a signed token', async () => {
  const { accounts, clock } = server.tapedeck.services;
  const token = await made('secret');
  const secret = await accounts.signToken(owner.accountId, token);
  const other = await made('publishable', { grants: READ_ALL });
  await accounts.signToken(owner.accountId, other);
  const nowMs = clock();
  const required = badToken('AuthorizationRequired');
  await judged('no signature', token, required);
  await judged('no signature, publishable', other, required);
  const sign = (text: string, timeMs: number) => ({ sign: signer(text, timeMs) });
  const wrong = secret.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  await judged('wrong', token, badToken('AuthorizationInvalid'), sign(wrong, nowMs));
  const early = sign(secret, nowMs - 3_600_000);
  await judged('of an hour ago', token, badToken('AuthorizationRestricted'), early);
  await judged('right', token, may(SECRET), sign(secret, nowMs));
});

test('a token for one site only', async () => {
  const token = await made('secret', { referrers: ['https://good.example'] });
  const from = (referer: string) => ({ headers: () => ({ referer }) });
  const denied = badToken('DeniedReferer');
  await judged('no Referer', token, denied);
  await judged('wrong Referer', token, denied, from('https://bad.example/good.example'));
  await judged('right Referer', token, may(SECRET), from('https://good.example/page'));
});

test('a token for some addresses only', async () => {
  const told = { DeniedReferer: 'The address of this request is not allowed' };
  const away = await made('secret', { addresses: ['10.0.0.0/8', '2001:db8::/32'] });
  await judged('wrong address', away, badToken('DeniedReferer'), { told });
  const headers = (): Record<string, string> => ({ 'x-forwarded-for': '10.0.0.1' });
  await judged('pretended address', away, badToken('DeniedReferer'), { told, headers });
  const here = await made('secret', { addresses: ['127.0.0.0/8'] });
  await judged('right address', here, may(SECRET));
});
