// SIGTERM and SIGHUP: the server ends within its time, even if clients do not read, do not send, or wait.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, test } from 'vitest';
import { startCommand, type Started } from '../command.ts';

/** Time that the endless query keeps the server draining. */
const DRAIN_MS = 2_000;
/** Extra time for everything else on a busy machine. */
const LATE_MS = 4_000;
const SECRET = 'sk_0123456789abcdef0123456789abcdef';
const HALF_SENT = 300;

let root = '';
const children: ChildProcess[] = [];
const sockets: Socket[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'tapedeck-drain-'));
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const socket of sockets) socket.destroy();
  await rm(root, { recursive: true, force: true });
});

async function serve(): Promise<{ readonly started: Started; readonly base: string }> {
  const env = {
    TAPEDECK_DATA: join(root, 'data'),
    TAPEDECK_PORT: '0',
    TAPEDECK_DEMO: 'off',
    TAPEDECK_LOG: 'silent',
    TAPEDECK_SECRET_TOKEN: SECRET,
    TAPEDECK_RATE_LIMIT: 'off',
    TAPEDECK_DRAIN: String(DRAIN_MS),
    TAPEDECK_CHILDREN: '1',
  };
  const started = startCommand(['serve'], { env }, children);
  for (;;) {
    const base = /listens on (\S+)/.exec(started.output.stdout)?.[1];
    if (base !== undefined) return { started, base };
    assert.equal(started.child.exitCode, null, started.output.stderr);
    await sleep(20);
  }
}

function open(base: string, text: string): void {
  const socket = connect(Number(new URL(base).port), '127.0.0.1', () => socket.write(text));
  socket.on('error', () => undefined);
  sockets.push(socket);
}

const rows = Array.from({ length: 1_000 }, (_, at) => `K${at},2024-01-01,${at}`).join('\n');
const sql = (base: string, query: string): string =>
  `${base}/v1/sql-query/WS?${new URLSearchParams({ token: SECRET, sqlQuery: query })}`;

/** Opens readers that do not read, partial requests of each kind, an endless query, and loads. */
async function burden(base: string): Promise<void> {
  const post = { method: 'POST', headers: { authorization: `Bearer ${SECRET}` } };
  await fetch(`${base}/v1/workspaces`, { ...post, body: JSON.stringify({ name: 'WS' }) });
  const url = `${base}/v1/data/WS/T?wait=true`;
  await fetch(url, { ...post, body: `symbol,date,v\n${rows}\n` });
  const long = new URL(sql(base, `SELECT a.symbol || '${'x'.repeat(80)}' AS s FROM T a, T b`));
  open(base, `GET ${long.pathname}${long.search} HTTP/1.1\r\nhost: x\r\n\r\n`);
  sockets.at(-1)?.pause();
  const head = `host: x\r\nauthorization: Bearer ${SECRET}\r\ncontent-length: 1000\r\n`;
  for (let at = 0; at < HALF_SENT; at += 1) {
    open(base, 'GET /v1/status HTTP/1.1\r\nhost: x\r\nx-half');
    open(base, `POST /v1/data/WS/HALF HTTP/1.1\r\n${head}\r\nsymbol,date`);
    open(base, 'GET /v1/status HTTP/1.1\r\nhost: x\r\n\r\nGET /v1/st');
  }
  const joins = 'SELECT count(*) AS n FROM T a, T b, T c, T d WHERE a.v * b.v % 7 = c.v * d.v % 11';
  fetch(sql(base, joins)).catch(() => undefined);
  const many = Array.from({ length: 100_000 }, (_, at) => `L${at},2024-01-01,${at}`).join('\n');
  for (let at = 0; at < 4; at += 1) {
    const load = `${base}/v1/data/WS/L${at}`;
    await fetch(load, { ...post, body: `symbol,date,v\n${many}\n` });
  }
  await sleep(300);
}

for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} ends a burdened server within its time, and nothing acknowledged is lost`, async () => {
    const { base, started } = await serve();
    await burden(base);
    const began = performance.now();
    started.child.kill(signal);
    const { code, stderr, stdout } = await started.ended;
    const ms = performance.now() - began;
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(`${signal}: draining`));
    assert.ok(ms < DRAIN_MS + LATE_MS, `${ms} ms`);
    const again = await serve();
    const token = `token=${SECRET}`;
    for (let at = 0; at < 4; at += 1) {
      for (let look = 0; ; look += 1) {
        const answer = await fetch(`${again.base}/v1/data/WS/L${at}/L7?${token}`);
        if (answer.status === 200 && (await answer.text()).includes('"L7"')) break;
        assert.ok(look < 300, `L${at} was not loaded`);
        await sleep(100);
      }
    }
    again.started.child.kill('SIGKILL');
    await again.started.ended;
  });
}
