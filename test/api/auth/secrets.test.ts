// No token, secret or credential in any log, error, metric or file: they are planted, every route is
// called with them, then all output and files of the server are searched.
import assert from 'node:assert/strict';
import { test } from 'vitest';
import { ENDPOINTS } from '../../../api/endpoints/index.ts';
import { expandPath } from '../../../api/introspection/openapi/openapi.ts';
import { textOf } from '../../base/client.ts';
import { note } from '../../base/notes.ts';
import { signedHeaders } from '../../clients/signing/sign.ts';
import { assertHidden, PLANTED, spawnServer } from '../http/spawned.ts';

interface Exercise {
  readonly base: string;
  readonly errors: string[];
}

/** Every route with each token in each place, with and without a body. */
async function exerciseAll({ base, errors }: Exercise): Promise<number> {
  const ask = async (method: string, path: string, init: RequestInit): Promise<void> => {
    const answer = await fetch(`${base}/v1${path}`, { method, ...init });
    const text = await textOf(answer);
    if (answer.status >= 400) errors.push(`${method} ${path.split('?')[0]} ${text}`);
  };
  let requestCount = 0;
  const { publishable, secret, admin } = PLANTED;
  for (const { method, path, aliases } of ENDPOINTS) {
    if (path.includes('rotate')) continue;
    for (const route of [path, ...(aliases ?? [])].flatMap(expandPath)) {
      const at = route.replaceAll(/:\w+/g, 'PLACE');
      for (const token of [publishable, secret, admin]) {
        const json = method === 'GET' ? {} : { body: JSON.stringify({ token, nonsense: 1 }) };
        const bearer = { headers: { authorization: `Bearer ${token}` } };
        await ask(method, `${at}?token=${token}`, json);
        await ask(method, `${at}?token=${token}&nonsense=1`, {});
        await ask(method, at, { ...json, ...bearer });
        await ask(method, `${at}?${token}`, bearer);
        requestCount += 4;
      }
    }
  }
  return requestCount;
}

/** Creates the secrets that only the server can create. */
async function makeMore(base: string): Promise<Readonly<Record<string, string>>> {
  const headers = { authorization: `Bearer ${PLANTED.secret}` };
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${base}/v1${path}`, init);
    assert.equal(answer.status, 200);
    return (await answer.json()) as Record<string, string>;
  };
  const newToken = await post('/account/tokens', { kind: 'secret' });
  const rotated = await post(`/account/tokens/${newToken['tokenId'] ?? ''}/rotate`, {});
  const token = rotated['token'] ?? '';
  const { secret = '' } = await post('/account/signed', { tokenToSign: token });
  const url = new URL(`${base}/v1/account/metadata?token=${token}`);
  const wrong = signedHeaders('GET', url, '', token, `${secret}x`, new Date());
  await fetch(url, { headers: wrong });
  await fetch(url, { headers: signedHeaders('GET', url, '', token, secret, new Date()) });
  return { issuedToken: newToken['token'] ?? '', rotated: token, signing: secret };
}

test('planted secrets appear nowhere', async (t) => {
  await using server = await spawnServer();
  const { base } = server;
  const more = await makeMore(base);
  const errors: string[] = [];
  note(t, `${await exerciseAll({ base, errors })} requests`);
  assert.ok(errors.length > 100);
  const metrics = await (await fetch(`${base}/metrics`)).text();
  // Only a first start may print its configured tokens.
  const outputs = [['metrics', metrics] as const, ['errors', errors.join('\n')] as const];
  assertHidden([...outputs, ...(await server.end())], { ...PLANTED, ...more });
});
