// Errors of commands about a server that is not Tapedeck, of another version, or behind a proxy.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VERSION } from '../../../store/base/version.ts';
import { runHere } from '../commandHere.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-other-'));
  await writeFile(join(folder, 'p.csv'), 'symbol,v\nA,1\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** One command of each way of calling a server. */
const COMMANDS = [
  ['workspace', 'list'],
  ['status'],
  ['ingest', 'p.csv', '--dataset', 'P'],
  ['sql', 'SELECT 1'],
  ['stream', 'tops'],
] as const;

/** The error of each command against a server with these responses: one line, and exit code 1. */
async function readErrors(answer: RequestListener): Promise<readonly string[]> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;
  try {
    const errors: string[] = [];
    for (const args of COMMANDS) {
      const env = { TAPEDECK_DATA: join(folder, 'none'), TAPEDECK_TOKEN: 'sk_x' };
      const ran = await runHere([...args, '--server', base], { env, cwd: folder });
      expect([args, ran.code, ran.stdout]).toEqual([args, 1, '']);
      expect(ran.stderr).toMatch(/^tapedeck: .+\n$/);
      errors.push(ran.stderr.trim().replaceAll(base, 'BASE'));
    }
    return errors;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const each = (sentence: string): readonly string[] =>
  COMMANDS.map(() => expect.stringContaining(sentence) as string);

const page =
  (status: number, headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_request, answer) => {
    answer.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<h1>hello</h1>');
  };

test('another program, and a proxy that responds instead of the server', async () => {
  expect(await readErrors(page(200))).toEqual(each('BASE is no Tapedeck server'));
  for (const status of [404, 502]) {
    const sentence = `BASE answers ${status} and text/html, not what a Tapedeck server does`;
    expect(await readErrors(page(status))).toEqual(each(sentence));
  }
  const location = 'https://data.example/';
  expect(await readErrors(page(301, { location }))).toEqual(
    each(`BASE redirects to ${location}: pass that`),
  );
});

test('JSON of another program', async () => {
  const none: RequestListener = (_request, answer) => {
    answer.writeHead(200, { 'content-type': 'application/json' }).end('null');
  };
  expect(await readErrors(none)).toEqual(each('BASE is no Tapedeck server'));
});

test('a server of another version is named, also when its response is not understood', async () => {
  const versions = `it is version 9.9.9, and this command ${VERSION}`;
  const other =
    (status: number, body: object): RequestListener =>
    ({ url }, answer) => {
      const isStatus = url === '/v1/status';
      answer.writeHead(isStatus ? 200 : status, { 'content-type': 'application/json' });
      answer.end(JSON.stringify(isStatus ? { status: 'up', version: '9.9.9', time: 1 } : body));
    };
  const refused = { detail: 'there is no such path', message: 'there is no such path' };
  const sentence = `there is no such path (the server: ${versions})`;
  const errors = await readErrors(other(404, refused));
  expect(errors.every((line) => line.endsWith(`(the server: ${versions})`))).toBe(true);
  expect(errors[0]).toContain(sentence);
  const strange = await readErrors(other(200, { other: true }));
  expect(strange.every((line) => line.includes(versions))).toBe(true);
});

test('a response that breaks off', async () => {
  const cut: RequestListener = (_request, answer) => {
    answer.writeHead(200, { 'content-type': 'text/event-stream', 'content-length': '100' });
    answer.write('{"wor');
    setTimeout(() => answer.destroy(), 20);
  };
  expect(await readErrors(cut)).toEqual(each('BASE closed the connection during its answer'));
});
