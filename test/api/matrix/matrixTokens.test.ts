// All requests of every row, with a token in every possible state.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import type { Right } from '../../../store/accounts/tokens.ts';
import { requestOf, type Way, WAYS } from './matrixCases.ts';
import { ask, each, judgeToken } from './matrixJudge.ts';
import { newToken, openWorld, targetOf, tokensOf, type World } from './matrixOwner.ts';
import { badToken, may, noToken, operator, SECRET } from './matrixRules.ts';

const UNKNOWN = 'sk_99999999999999999999999999999999';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.server.close());

test('no token', async () => {
  for (const version of ['v1', 'stable', 'latest', 'v1-beta']) {
    await judgeToken(world, `none, ${version}`, undefined, noToken('NoKey'), { version });
  }
  await judgeToken(world, 'an empty one', '', noToken('NoKey'));
});

test('HEAD is no way around a token, and costs nothing: it returns no records', async () => {
  const { ledger } = world.server.tapedeck.services;
  const head = async (way: Way, authorization?: string): Promise<number> => {
    const { path } = requestOf(way, targetOf(world.owner));
    const headers = authorization === undefined ? {} : { authorization };
    return (await fetch(`${world.server.base}/v1${path}`, { method: 'HEAD', headers })).status;
  };
  const reads = WAYS.filter(
    ({ testCase, endpoint }) => endpoint.method === 'GET' && testCase.reach !== 'nothing',
  );
  await each(reads, async (way) => {
    const status = await head(way);
    assert.ok(status === 401 || status === 404, `${way.route}: ${status}`);
  });
  const used = ledger.balance(world.owner.accountId);
  for (const way of reads.filter(({ testCase }) => testCase.metered)) {
    await head(way, `Bearer ${world.owner.secret}`);
    assert.deepEqual(ledger.balance(world.owner.accountId), used, way.route);
  }
});

test('an unknown token', async () => {
  const { secret } = world.owner;
  for (const token of [secret.toUpperCase(), `${secret}0`, secret.padEnd(4_000, '0')]) {
    await judgeToken(world, token.slice(0, 40), token, noToken('InvalidKey'));
  }
});

test("the operator's token", async () => {
  const { adminToken } = world.server.tapedeck.services;
  await judgeToken(world, 'admin', adminToken, operator);
  await judgeToken(world, 'admin, in the body', adminToken, operator, { place: 'body' });
});

test('a disabled token', async () => {
  for (const kind of ['publishable', 'secret'] as const) {
    const token = await newToken(world, kind, { disabled: true });
    await judgeToken(world, `disabled, ${kind}`, token, badToken('DisabledKey'));
  }
});

test('a rotated token: the old text is disabled immediately, the new one has the same rights', async () => {
  const { accounts } = world.server.tapedeck.services;
  const old = await accounts.createToken(world.owner.accountId, 'secret');
  const request = { method: 'POST', path: `/account/tokens/${old.tokenId}/rotate` } as const;
  const manner = { base: world.server.base, token: old.text };
  const answer = await ask({ ...request, body: undefined }, manner);
  assert.equal(answer.status, 200, answer.text);
  const { token } = JSON.parse(answer.text) as { readonly token: string };
  await judgeToken(world, 'rotated away', old.text, badToken('DisabledKey'));
  await judgeToken(world, 'rotated in', token, may(SECRET));
});

test('a secret token in every place', async () => {
  for (const place of ['header', 'query', 'body'] as const) {
    await judgeToken(world, `unknown, in the ${place}`, UNKNOWN, noToken('InvalidKey'), { place });
    await judgeToken(world, `secret, in the ${place}`, world.owner.secret, may(SECRET), { place });
  }
});

test('a publishable token without rights', async () => {
  const kind = 'publishable';
  await judgeToken(world, kind, await newToken(world, kind), may({ kind, rights: [] }));
});

test('rights on datasets, of both kinds of tokens', async () => {
  const { id, workspace } = world.owner.target;
  const own = `${workspace}.${id}`;
  const all = ['read', 'write', 'delete'] as const;
  await judgeRights('none', []);
  await judgeRights('*', ['read']);
  await judgeRights(own, ['write']);
  await judgeRights(own.toLowerCase(), ['read', 'delete']);
  await judgeRights(`${workspace}.*`, all);
  await judgeRights(`${own}_`, all, []);
  await judgeRights(`${workspace}_.*`, all, []);
});

/** Judges tokens with rights on `datasets`; `rights` are those on the owner's own dataset. */
async function judgeRights(
  datasets: string,
  grantedRights: readonly Right[],
  rights: readonly Right[] = grantedRights,
): Promise<void> {
  const grants = grantedRights.length === 0 ? [] : [{ datasets, rights: grantedRights }];
  const changes = grantedRights.some((right) => right !== 'read');
  for (const kind of ['publishable', 'secret'] as const) {
    const token = await newToken(world, kind, { grants });
    const name = `${kind}, ${datasets} ${grantedRights.join()}`;
    await judgeToken(world, name, token, may({ kind, rights, changes }));
  }
}

test('a token for tests, in production', async () => {
  const tokens = await tokensOf(world.server, world.owner.accountId, true);
  assert.deepEqual(tokens.map(({ text }) => text.slice(0, 4)).toSorted(), ['Tpk_', 'Tsk_']);
  for (const { kind, text } of tokens) {
    await judgeToken(world, `test, ${kind}`, text, badToken('TestTokenInProduction'));
  }
});
