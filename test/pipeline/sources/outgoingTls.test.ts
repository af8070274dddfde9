// TLS of the guarded client: a certificate is trusted only with its authority, its name, its time.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { openOutgoing, type OutgoingRules } from '../../../pipeline/sources/http/outgoing.ts';
import { startHttp } from '../../base/servers/http.ts';
import { failing } from './contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'tapedeck-tls-'));
const files = { key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem') };
let server: Server;
let base: string;

beforeAll(async () => {
  const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30'];
  const names = ['-subj', '/CN=data.test', '-addext', 'subjectAltName=DNS:data.test'];
  const written = ['-keyout', files.key, '-out', files.cert];
  execFileSync('openssl', [...kind, ...written, ...names], { stdio: 'ignore' });
  const [key, cert] = [readFileSync(files.key), readFileSync(files.cert)];
  server = createServer({ key, cert }, (request, response) => {
    const location = 'http://data.test/';
    if (request.url === '/down') response.writeHead(302, { location }).end();
    else response.end(`${request.headers.host} ${String(request.url)}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `data.test:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
});

const rules = (more: Partial<OutgoingRules> = {}): OutgoingRules => ({
  allowPrivateAddresses: true,
  deadlineMs: 5_000,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  ca: readFileSync(files.cert, 'utf8'),
  ...more,
});

async function textOf(url: string, outgoingRules: OutgoingRules): Promise<string> {
  await using outgoing = openOutgoing(outgoingRules);
  const { signal } = new AbortController();
  const answer = await outgoing.send({ method: 'GET', url, headers: {}, bytesMax: 1_000, signal });
  const chunks: Buffer[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('TLS', () => {
  test('the client requests the name of the URL, at the checked address', async () => {
    assert.equal(await textOf(`https://${base}/a?b`, rules()), `${base} /a?b`);
  });

  test('an unknown authority', async () => {
    const { ca: _, ...unknown } = rules();
    const sent = textOf(`https://${base}/`, unknown);
    await assert.rejects(sent, failing(/data\.test:\d+: TLS failed: self.signed/, false));
  });

  test('the environment cannot switch the check off', async () => {
    const { ca: _, ...unknown } = rules();
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await assert.rejects(textOf(`https://${base}/`, unknown), failing(/TLS failed/, false));
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
  });

  test('a certificate of another name, or for an address', async () => {
    for (const host of ['other.test', '127.0.0.1']) {
      const sent = textOf(`https://${base.replace('data.test', host)}/`, rules());
      await assert.rejects(sent, failing(/TLS failed/, false));
    }
  });

  test('TLS to a server without it, and plain HTTP to a server with it', async () => {
    await assert.rejects(
      textOf(`http://${base}/`, rules()),
      failing(/before the end|HTTP 400|in HTTP/, true),
    );
    await using plain = await startHttp((_request, response) => response.end());
    const sent = textOf(`https://data.test:${plain.port}/`, rules());
    await assert.rejects(sent, failing(/TLS failed/, false));
  });

  test('no redirect leads down to http', async () => {
    await assert.rejects(
      textOf(`https://${base}/down`, rules()),
      failing(/from https to http/, false),
    );
  });
});
