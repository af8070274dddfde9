// A token that accepts only a signature of the whole query: a signed request cannot be changed.
import assert from 'node:assert/strict';
import { afterAll, beforeAll, test } from 'vitest';
import { loaded, send } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { signedHeaders } from './sign.ts';

let server: TestServer;
let token = '';
let secret = '';
beforeAll(async () => {
  server = await startServer();
  const { accounts } = server.tapedeck.services;
  await accounts.changeAccount(server.tapedeck.accountId, { tier: 'scale' });
  await loaded(server, 'P', 'symbol,v\nA,1\nB,2\n');
  const grants = [{ datasets: '*', rights: ['read', 'write'] }];
  const creation = await send(server, 'POST', '/account/tokens', {
    kind: 'publishable',
    grants,
    fullSignatures: true,
  });
  const createdToken = JSON.parse(creation.text) as {
    readonly token: string;
    readonly fullSignatures: boolean;
  };
  assert.equal(createdToken.fullSignatures, true);
  token = createdToken.token;
  const signed = await send(server, 'POST', '/account/signed', { tokenToSign: token });
  secret = (JSON.parse(signed.text) as { readonly secret: string }).secret;
});
afterAll(() => server.close());

/** Requests `path` with a signature of `query` and returns the status. */
async function ask(path: string, query: string | undefined, body?: string): Promise<number> {
  const url = new URL(`${server.base}/v1${path}`);
  const method = body === undefined ? 'GET' : 'POST';
  const at = new Date(server.tapedeck.services.clock());
  const headers = signedHeaders(method, url, body ?? '', token, secret, at, query);
  const answer = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  await answer.arrayBuffer();
  return answer.status;
}

test('the whole query in order passes; the token alone does not, nor does any part of it', async () => {
  const path = `/data/WS/P?limit=2&token=${token}&sort=asc`;
  const full = `limit=2&sort=asc&token=${token}`;
  assert.equal(await ask(path, full), 200);
  assert.equal(await ask(path, undefined), 403);
  assert.equal(await ask(path, `limit=2&token=${token}`), 403);
  assert.equal(
    await ask(path, `limit=2&token=${token}&sort=asc`),
    403,
    'as it was sent, not in order',
  );
  assert.equal(await ask(`/data/WS/P?limit=1&token=${token}&sort=asc`, full), 403, 'changed');
  assert.equal(await ask(`${path}&last=1`, full), 403, 'more');
  assert.equal(await ask(path, ''), 403);
});

test('a query of the token alone is whole, and bodies are covered as before', async () => {
  assert.equal(await ask(`/data/WS/P?token=${token}`, undefined), 200);
  const load = `/data/WS/P?wait=true&token=${token}`;
  assert.equal(await ask(load, `token=${token}&wait=true`, 'symbol,v\nC,3\n'), 200);
  assert.equal(await ask(load, undefined, 'symbol,v\nD,3\n'), 403);
});

test('without the setting both forms pass, and it can be removed', async () => {
  const { accounts } = server.tapedeck.services;
  const { tokenId } = accounts.identify(token);
  const path = `/data/WS/P?limit=2&token=${token}`;
  assert.equal(await ask(path, undefined), 403);
  const set = { fullSignatures: false };
  assert.equal((await send(server, 'PATCH', `/account/tokens/${tokenId}`, set)).status, 200);
  assert.equal(await ask(path, undefined), 200);
  assert.equal(await ask(path, `limit=2&token=${token}`), 200);
});
