// The samples that users copy, run unchanged against a server whose token is signed.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, test } from 'vitest';
import { loaded } from '../../base/client.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { signedHeaders } from './sign.ts';

const run = promisify(execFile);
const SAMPLES = join(import.meta.dirname, '..', '..', '..', 'docs', 'guides', 'samples');
const LANGUAGES = [
  ['Node', process.execPath, 'signed_request.mjs'],
  ['Python', 'python3', 'signed_request.py'],
  ['curl and openssl', 'bash', 'signed_request.sh'],
] as const;

let server: TestServer;
let folder: string;
let reader: { readonly TOKEN: string; readonly SECRET: string };
let writer: { readonly TOKEN: string; readonly SECRET: string };
beforeAll(async () => {
  server = await startServer();
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-samples-'));
  await loaded(server, 'PRICES', 'symbol,date,v\nA,2020-01-01,1\nA,2020-01-02,2\n');
  const { accountId, services } = server.tapedeck;
  const { accounts } = services;
  const signed = async (kind: 'publishable' | 'secret'): Promise<typeof reader> => {
    const grants = [{ datasets: '*', rights: ['read'] }] as const;
    const settings = kind === 'publishable' ? { grants } : { refuseReplays: true };
    const { text } = await accounts.createToken(accountId, kind, settings);
    return { TOKEN: text, SECRET: await accounts.signToken(accountId, text) };
  };
  reader = await signed('publishable');
  writer = await signed('secret');
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const env = (keys: typeof reader): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  BASE: server.base,
  ...keys,
});

/** True if a sample cannot run here; in continuous integration all programs must be installed. */
function missing(program: string): boolean {
  const there = spawnSync(program, ['--version']).error === undefined;
  return !there && process.env['CI'] !== 'true';
}

for (const [name, program, file] of LANGUAGES) {
  test(`${name}: a signed read, a signed load, and a wrong secret`, async (t) => {
    t.skip(missing(program), `${program} is not installed`);
    const script = join(SAMPLES, file);
    const read = '/v1/data/WS/PRICES/A?last=2&filter=v';
    const { stdout } = await run(program, [script, read], { env: env(reader) });
    assert.deepEqual(JSON.parse(stdout), [{ v: 2 }, { v: 1 }]);
    const again = await run(program, [script, read], { env: env(reader) });
    assert.equal(again.stdout, stdout, 'repeated polls are no replays');
    const body = join(folder, file);
    await writeFile(body, `symbol,date,v\nB,2020-01-01,${name.length}\n`);
    const dataset = `FROM_${file.split('.')[1]?.toUpperCase()}`;
    const load = [script, `/v1/data/WS/${dataset}?wait=true`, body];
    const loadedBy = await run(program, load, { env: env(writer) });
    assert.match(loadedBy.stdout, /"success":true/);
    const wrong = env({ ...reader, SECRET: `${reader.SECRET.slice(0, -1)}x` });
    await assert.rejects(run(program, [script, read], { env: wrong }), (error) => {
      const { stderr } = error as { readonly stderr: string };
      return /403/.test(stderr) && /Hashed authorization is invalid/.test(stderr);
    });
  });
}

test('a body other than the signed one changes nothing; a write is accepted once', async () => {
  const { accounts } = server.tapedeck.services;
  const { TOKEN, SECRET } = writer;
  assert.equal(accounts.signingSecret(TOKEN), SECRET);
  const url = new URL(`${server.base}/v1/record/WS/ONCE?token=${TOKEN}`);
  const send = (body: string, headers: Record<string, string>): Promise<Response> =>
    fetch(url, { method: 'POST', body, headers });
  const good = '{"symbol":"A","date":"2020-01-01","v":1}';
  const headers = signedHeaders('POST', url, good, TOKEN, SECRET, new Date());
  const changed = await send(good.replace('1}', '9}'), headers);
  assert.equal(changed.status, 403, await changed.text());
  assert.equal(server.tapedeck.services.lake.directory.dataset('WS', 'ONCE'), undefined);
  assert.equal((await send(good, headers)).status, 200);
  const replayed = await send(good, headers);
  assert.deepEqual(
    [replayed.status, await replayed.text()],
    [401, 'Hashed authorization is restricted'],
  );
});
