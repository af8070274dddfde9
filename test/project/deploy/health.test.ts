// The health check of Docker: its exit code is 0 if the server responds, else 1, with plain HTTP and TLS.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createPlain } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEPLOY } from './deployFiles.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tapedeck-health-'));
  const files = ['-keyout', join(folder, 'key'), '-out', join(folder, 'pem'), '-days', '1'];
  const how = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=data.example.com'];
  execFileSync('openssl', [...how, ...files], { stdio: 'ignore' });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The exit code of the health check with this server. */
async function codeBeside(server: Server, env = {}): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const child = spawn(process.execPath, [join(DEPLOY, 'health.ts')], {
      env: { TAPEDECK_PORT: String(port), ...env },
      stdio: 'ignore',
    });
    const [code] = (await once(child, 'exit')) as [number];
    return code;
  } finally {
    await new Promise((done) => server.close(done));
  }
}

for (const [status, code] of [
  [200, 0],
  [404, 1],
  [503, 1],
] as const) {
  test(`${status} is ${code}`, async () => {
    const paths: string[] = [];
    const server = createPlain((request, reply) => {
      paths.push(request.url ?? '');
      reply.writeHead(status).end();
    });
    expect([await codeBeside(server, { TAPEDECK_HOST: '0.0.0.0' }), paths]).toEqual([
      code,
      ['/healthz'],
    ]);
  });
}

test('a server with TLS only is checked by TLS, with any name in its certificate', async () => {
  const pair = { key: readFileSync(join(folder, 'key')), cert: readFileSync(join(folder, 'pem')) };
  const secure = (): Server => createSecure(pair, (_, reply) => void reply.end());
  expect(await codeBeside(secure(), { TAPEDECK_TLS_CERT: join(folder, 'pem') })).toBe(0);
  expect(await codeBeside(secure())).toBe(1);
});

test('a server that does not respond is not healthy', async () => {
  const server = createPlain(() => undefined);
  expect(await codeBeside(server)).toBe(1);
});
