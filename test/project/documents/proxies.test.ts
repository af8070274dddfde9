// The proxies of docs/guides/samples, as printed except for names and ports: TLS, addresses of clients,
// unbuffered streams, loads of any size, and no operator endpoints.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loaded, send } from '../../base/client.ts';
import { freePort, programIn, startDaemon } from '../../base/servers/daemon.ts';
import { startServer, type TestServer } from '../../base/server.ts';
import { until } from '../../api/streams/listening.ts';

const SAMPLES = join(import.meta.dirname, '..', '..', '..', 'docs', 'guides', 'samples');
const NAME = 'data.example.com';

let folder = '';
let server: TestServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-proxy-'));
  const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`];
  const files = [
    '-keyout',
    join(folder, 'key'),
    '-out',
    join(folder, 'pem'),
    '-days',
    '1',
    '-nodes',
  ];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...files, ...subject], {
    stdio: 'ignore',
  });
  server = await startServer({ settings: { TAPEDECK_TRUSTED_PROXIES: '127.0.0.1' } });
  await loaded(server, 'P', 'symbol,date,v\nA,2024-01-01,1\n', { key: 'symbol', date: 'date' });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** How a proxy is started with its printed configuration. */
interface Proxy {
  readonly program: string;
  readonly sample: string;
  readonly written: (sample: string, port: number) => string;
  readonly args: (path: string) => readonly string[];
}

const upstream = (): string => server.base.replace('http://', '');

const PROXIES: readonly Proxy[] = [
  {
    program: 'nginx',
    sample: 'nginx.conf',
    written: (sample, port) => {
      const site = sample
        .replace('127.0.0.1:8080;', `${upstream()};`)
        .replace('listen 443', `listen 127.0.0.1:${port}`)
        .replace(`/etc/ssl/${NAME}.pem`, join(folder, 'pem'))
        .replace(`/etc/ssl/${NAME}.key`, join(folder, 'key'));
      const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (what) => `${what}_temp_path ${join(folder, what)};`,
      );
      const head = `daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {}`;
      return `${head}\nhttp { access_log off; ${places.join(' ')}\n${site} }\n`;
    },
    args: (path) => ['-e', 'stderr', '-p', folder, '-c', path],
  },
  {
    program: 'caddy',
    sample: 'Caddyfile',
    written: (sample, port) => {
      const site = sample
        .replace('reverse_proxy 127.0.0.1:8080', `reverse_proxy ${upstream()}`)
        .replace(
          `${NAME} {`,
          `https://${NAME}:${port} {\n\tbind 127.0.0.1\n\ttls ${join(folder, 'pem')} ${join(folder, 'key')}`,
        );
      return `{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system ${folder}\n}\n${site}`;
    },
    args: (path) => ['run', '--adapter', 'caddyfile', '--config', path],
  },
];

for (const proxy of PROXIES) {
  describe(proxy.sample, async () => {
    const program = await programIn(proxy.program, ['/usr/sbin', '/usr/bin']);
    if (program === undefined && process.env['CI'] === 'true') {
      test('exists', () => expect.fail(`${proxy.program} is missing`));
    }
    test.skipIf(program === undefined)('everything a client needs', async () => {
      const port = await freePort();
      const path = join(folder, proxy.sample);
      const sample = await readFile(join(SAMPLES, proxy.sample), 'utf8');
      await writeFile(path, proxy.written(sample, port));
      const isReady = (): Promise<boolean> =>
        ask(port, '/v1/status').then(
          ({ status }) => status === 200,
          () => false,
        );
      await using _running = await startDaemon({
        command: [program ?? '', ...proxy.args(path)],
        isReady,
      });
      await reads(port);
      await addresses(port);
      await streams(port);
    });
  });
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Options of a remote client's request: by the name, and from an address of its own. */
const options = (port: number, path: string, more: RequestOptions = {}): RequestOptions => ({
  host: '127.0.0.1',
  port,
  path,
  servername: NAME,
  agent: false,
  ca: readFileSync(join(folder, 'pem')),
  localAddress: '127.0.0.2',
  ...more,
  headers: {
    host: NAME,
    ...(more.headers as Record<string, string>),
  },
});

function ask(port: number, path: string, more: RequestOptions = {}, body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const clientRequest = request(options(port, path, more), (answer) => {
      textOf(answer).then((text) => resolve({ status: answer.statusCode ?? 0, text }), reject);
    });
    clientRequest.on('error', reject);
    clientRequest.end(body);
  });
}

async function reads(port: number): Promise<void> {
  const headers = { authorization: `Bearer ${server.secret}` };
  const read = await ask(port, '/v1/data/WS/P/A?to=2024-01-01', { headers });
  expect([read.status, JSON.parse(read.text)]).toMatchObject([200, [{ symbol: 'A', v: 1 }]]);
  for (const path of ['/metrics', '/healthz', '/readyz']) {
    expect([path, (await ask(port, path)).status]).toEqual([path, 404]);
  }
  const lines = Array.from({ length: 200_000 }, (_, at) => `S${at},2024-01-01,${at}\n`);
  const load = await ask(
    port,
    `/v1/data/WS/BIG_${port}?wait=true&key=symbol&date=date`,
    { method: 'POST', headers },
    `symbol,date,v\n${lines.join('')}`,
  );
  expect([load.status, load.text]).toEqual([200, expect.stringContaining('jobId')]);
}

/** Checks a token of one address, with any header from the client. */
async function addresses(port: number): Promise<void> {
  const answer = await send(server, 'POST', '/account/tokens', {
    kind: 'publishable',
    addresses: ['127.0.0.2'],
    grants: [
      {
        datasets: 'WS.*',
        rights: ['read'],
      },
    ],
  });
  const { token } = JSON.parse(answer.text) as { readonly token: string };
  const path = `/v1/data/WS/P/A?last=1&token=${token}`;
  expect((await ask(port, path)).status).toBe(200);
  const elsewhere = { localAddress: '127.0.0.3' };
  const refused = 'The address of this request is not allowed';
  expect((await ask(port, path, elsewhere)).text).toBe(refused);
  const headers = { 'x-forwarded-for': '127.0.0.2' };
  expect((await ask(port, path, { ...elsewhere, headers })).text).toBe(refused);
}

async function streams(port: number): Promise<void> {
  let heard = '';
  const path = `/v1/stream/WS/P?nosnapshot=true&token=${server.publishable}`;
  const clientRequest = request(
    options(port, path, { headers: { accept: 'text/event-stream' } }),
    (answer) => {
      answer.setEncoding('utf8').on('data', (piece: string) => (heard += piece));
      answer.on('error', () => undefined);
    },
  );
  clientRequest.on('error', () => undefined);
  clientRequest.end();
  try {
    await until(() => server.tapedeck.services.streams.open.state().open === 1);
    for (const day of ['2024-02-01', '2024-02-02']) {
      await send(server, 'POST', '/record/WS/P?duplicateKeyHandling=replace', [
        { symbol: 'A', date: day, v: port },
      ]);
      await until(() => heard.includes(day));
    }
  } finally {
    clientRequest.destroy();
  }
  await until(() => server.tapedeck.services.streams.open.state().open === 0);
}
