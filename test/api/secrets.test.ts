// No token, secret or credential in any log, error, metric or file: planted, then every route is
// exercised with them, then all that the server said and kept is searched.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENDPOINTS } from '../../api/endpoints/index.ts';
import { expandPath } from '../../api/openapi.ts';
import { signedHeaders } from '../signing/sign.ts';

const LAUNCHER = join(import.meta.dirname, '..', '..', 'bin', 'tapedeck.mjs');
const PLANTED = {
  publishable: 'pk_planted0000publishable0000aaaa',
  secret: 'sk_planted0000secret0000bbbb',
  admin: 'ak_planted0000admin0000cccc',
  key: 'dd'.repeat(32),
};
/** Files that hold a secret by design, readable by their owner alone. */
const SECRET_FILES = new Set(['key', 'admin-token']);

interface Exercise {
  readonly base: string;
  readonly errors: string[];
}

/** Every route with each token in each place, with and without a body. */
async function exerciseAll({ base, errors }: Exercise): Promise<number> {
  const ask = async (method: string, path: string, init: RequestInit): Promise<void> => {
    const answer = await fetch(`${base}/v1${path}`, { method, ...init });
    const text = await answer.text();
    if (answer.status >= 400) errors.push(`${method} ${path.split('?')[0]} ${text}`);
  };
  let asked = 0;
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
        asked += 4;
      }
    }
  }
  return asked;
}

/** Makes the secrets that only the server can make. */
async function makeMore(base: string): Promise<Readonly<Record<string, string>>> {
  const headers = { authorization: `Bearer ${PLANTED.secret}` };
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${base}/v1${path}`, init);
    assert.equal(answer.status, 200);
    return (await answer.json()) as Record<string, string>;
  };
  const made = await post('/account/tokens', { kind: 'secret' });
  const rotated = await post(`/account/tokens/${made['tokenId'] ?? ''}/rotate`, {});
  const token = rotated['token'] ?? '';
  const { secret = '' } = await post('/account/signed', { tokenToSign: token });
  const url = new URL(`${base}/v1/account/metadata?token=${token}`);
  const wrong = signedHeaders('GET', url, '', token, `${secret}x`, new Date());
  await fetch(url, { headers: wrong });
  await fetch(url, { headers: signedHeaders('GET', url, '', token, secret, new Date()) });
  return { made: made['token'] ?? '', rotated: token, signing: secret };
}

async function filesOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || SECRET_FILES.has(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(folder.length + 1), (await readFile(path)).toString('latin1'));
  }
  return files;
}

test('planted secrets appear nowhere', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-secrets-'));
  const child = spawn(process.execPath, [LAUNCHER, 'serve'], {
    env: {
      PATH: process.env['PATH'],
      TAPEDECK_DATA: folder,
      TAPEDECK_PORT: '0',
      TAPEDECK_DEMO: 'off',
      TAPEDECK_LOG: 'trace',
      TAPEDECK_RATE_LIMIT: 'off',
      TAPEDECK_PUBLISHABLE_TOKEN: PLANTED.publishable,
      TAPEDECK_SECRET_TOKEN: PLANTED.secret,
      TAPEDECK_ADMIN_TOKEN: PLANTED.admin,
      TAPEDECK_ENCRYPTION_KEY: PLANTED.key,
    },
  });
  let [stdout, stderr] = ['', ''];
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const listening = new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      const base = /listens on (\S+)/.exec(stdout)?.[1];
      if (base !== undefined) resolve(base);
    });
  });
  try {
    const base = await listening;
    const more = await makeMore(base);
    const errors: string[] = [];
    t.diagnostic(`${await exerciseAll({ base, errors })} requests`);
    assert.ok(errors.length > 100);
    const metrics = await (await fetch(`${base}/metrics`)).text();
    child.kill('SIGTERM');
    await once(child, 'exit');
    // A first start says the tokens that it was given; nothing else may.
    const said = { stderr, metrics, errors: errors.join('\n') };
    const files = await filesOf(folder);
    assert.ok([...files.keys()].some((name) => name.startsWith('catalog.db')));
    const secrets = { ...PLANTED, ...more };
    for (const [name, text] of [...Object.entries(said), ...files]) {
      for (const [which, value] of Object.entries(secrets)) {
        // Publishable tokens are public, and kept in clear (DESIGN.md "Secrets").
        if (which === 'publishable' && name.startsWith('catalog.db')) continue;
        assert.ok(value.length > 10 && !text.includes(value), `${name} holds the ${which} one`);
      }
    }
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
});
