// All requests of every row, by the place and form of use of a valid token: in the test environment, signed,
// from a page, from an address.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { READ_ALL } from '../../../store/accounts/tokens.ts';
import { judgeToken, signer } from './matrixJudge.ts';
import { newToken, openWorld, tokensOf, type World } from './matrixOwner.ts';
import { badToken, may, notHere, SECRET, testing } from './matrixRules.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.server.close());

test('the test environment', async () => {
  const { adminToken, ledger } = world.server.tapedeck.services;
  const base = world.server.tapedeck.sandbox ?? '';
  const used = ledger.balance(world.owner.accountId);
  const wrong = 'ProductionTokenInSandbox';
  await judgeToken(world, 'no token', undefined, notHere('NoKey'), { base });
  await judgeToken(world, 'unknown', 'sk_0', notHere('InvalidKey'), { base });
  await judgeToken(world, 'admin', adminToken, notHere('InvalidKey'), { base });
  for (const token of [world.owner.publishable, world.owner.secret]) {
    await judgeToken(world, `production, ${token.slice(0, 3)}`, token, notHere(wrong), { base });
  }
  const ours = await tokensOf(world.server, world.owner.accountId, false);
  const hidden = ours.map(({ text }) => text);
  for (const { kind, text } of await tokensOf(world.server, world.owner.accountId, true)) {
    const grip = kind === 'secret' ? SECRET : ({ kind, rights: ['read'] } as const);
    await judgeToken(world, `test, ${kind}`, text, testing(may(grip)), { base, hidden });
  }
  assert.deepEqual(ledger.balance(world.owner.accountId), used, 'it charges nothing');
});

test('a signed token', async () => {
  const { accounts, clock } = world.server.tapedeck.services;
  const token = await newToken(world, 'secret');
  const secret = await accounts.signToken(world.owner.accountId, token);
  const other = await newToken(world, 'publishable', { grants: READ_ALL });
  await accounts.signToken(world.owner.accountId, other);
  const nowMs = clock();
  const required = badToken('AuthorizationRequired');
  await judgeToken(world, 'no signature', token, required);
  await judgeToken(world, 'no signature, publishable', other, required);
  const sign = (text: string, timeMs: number) => ({ sign: signer(text, timeMs) });
  const wrong = secret.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  await judgeToken(world, 'wrong', token, badToken('AuthorizationInvalid'), sign(wrong, nowMs));
  const early = sign(secret, nowMs - 3_600_000);
  await judgeToken(world, 'of an hour ago', token, badToken('AuthorizationRestricted'), early);
  await judgeToken(world, 'right', token, may(SECRET), sign(secret, nowMs));
});

test('a token for one site only', async () => {
  const token = await newToken(world, 'secret', { referrers: ['https://good.example'] });
  const from = (referer: string) => ({ headers: () => ({ referer }) });
  const denied = badToken('DeniedReferer');
  await judgeToken(world, 'no Referer', token, denied);
  await judgeToken(world, 'wrong Referer', token, denied, from('https://bad.example/good.example'));
  await judgeToken(world, 'right Referer', token, may(SECRET), from('https://good.example/page'));
});

test('a token for some addresses only', async () => {
  const sentences = { DeniedReferer: 'The address of this request is not allowed' };
  const away = await newToken(world, 'secret', { addresses: ['10.0.0.0/8', '2001:db8::/32'] });
  await judgeToken(world, 'wrong address', away, badToken('DeniedReferer'), { sentences });
  const headers = (): Record<string, string> => ({ 'x-forwarded-for': '10.0.0.1' });
  await judgeToken(world, 'pretended address', away, badToken('DeniedReferer'), {
    sentences,
    headers,
  });
  const here = await newToken(world, 'secret', { addresses: ['127.0.0.0/8'] });
  await judgeToken(world, 'right address', here, may(SECRET));
});
