// `tapedeck stream`: messages of a running server, one line each, or a table on a screen.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeServerFile } from '../../cli/connect/folderAccess.ts';
import { until } from '../api/streams/listening.ts';
import { startServer, type TestServer } from '../base/server.ts';
import { runHere } from './commandHere.ts';

let folder = '';
let server: TestServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tapedeck-listen-'));
  server = await startServer({ folder });
  await writeServerFile(folder, { base: server.base });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const env = (): Readonly<Record<string, string>> => ({
  TAPEDECK_DATA: folder,
  TAPEDECK_LOG: 'silent',
  TAPEDECK_PUBLISHABLE_TOKEN: server.publishable,
  TAPEDECK_SECRET_TOKEN: server.secret,
});

/** Publishes trades as soon as a client listens. */
async function ticking(prices: readonly number[]): Promise<void> {
  const { board, open } = server.tapedeck.services.streams;
  await until(() => open.state().open === 1);
  for (const price of prices) {
    const of = { symbol: 'AAA', timeMs: 1_700_000_000_000, price, size: 5 };
    board.apply({ kind: 'trade', ...of, tradeId: String(price) });
  }
}

test('JSON lines for programs, text for people', async () => {
  const json = runHere(['stream', 'last', '--symbols', 'AAA', '--count', '2', '--json'], {
    env: env(),
  });
  await ticking([1.5, 2.5]);
  const lines = (await json).stdout.trim().split('\n');
  const time = 1_700_000_000_000;
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { symbol: 'AAA', price: 1.5, size: 5, time, seq: 1 },
    { symbol: 'AAA', price: 2.5, size: 5, time, seq: 2 },
  ]);
  await until(() => server.tapedeck.services.streams.open.state().open === 0);
  const words = await runHere(['stream', 'last', '--symbols', 'AAA', '--count', '1'], {
    env: env(),
  });
  expect(words.stdout).toBe(`AAA       price 2.5  size 5  time ${time}  seq 2\n`);
});

test('an unknown name, an invalid count and a missing server are refused', async () => {
  const readError = async (args: readonly string[], more = {}): Promise<string> => {
    const { code, stderr } = await runHere(['stream', ...args], { env: { ...env(), ...more } });
    expect(code).toBe(1);
    return stderr;
  };
  expect(await readError(['nonsense'])).toMatch(/there is no GET \/v1\/nonsense/);
  expect(await readError(['last', '--count', 'x'])).toMatch(/--count must be a whole number/);
  const none = await mkdtemp(join(tmpdir(), 'tapedeck-none-'));
  expect(await readError(['last'], { TAPEDECK_DATA: none })).toMatch(/no server runs/);
  await rm(none, { recursive: true });
});
