// The programs of examples/ run as readers start them, one after the other with one server.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, test } from 'vitest';
import { startServer, type TestServer } from '../base/server.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples');
const run = promisify(execFile);
let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});

afterAll(() => server.close());

const envOf = (token: string): NodeJS.ProcessEnv => ({
  ...process.env,
  TAPEDECK_URL: server.base,
  TAPEDECK_TOKEN: token,
  TAPEDECK_WORKSPACE: 'WS',
});

async function output(program: string, args: readonly string[], token: string): Promise<string> {
  const { stdout } = await run(program, args, { env: envOf(token) });
  return stdout;
}

test('prices.mjs loads its file and reads the last days', async () => {
  const text = await output(process.execPath, [join(EXAMPLES, 'prices.mjs')], server.secret);
  assert.match(
    text,
    /^stored 8 of 8 records\n2026-01-08 103\.9\n2026-01-07 101\.4\n2026-01-06 102\.75\n/,
  );
  assert.match(text, /messages used: 3\n$/);
});

test('webApp.mjs serves prices and a chart without its token', async () => {
  const app = spawn(process.execPath, [join(EXAMPLES, 'webApp.mjs')], {
    env: { ...envOf(server.publishable), PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await firstLine(app);
    const prices = (await (await fetch(url)).json()) as readonly { readonly close: number }[];
    assert.equal(prices[0]?.close, 103.9);
    const chart = await fetch(url.replace('/prices/ACME', '/charts/ACME.svg'));
    assert.match(chart.headers.get('content-type') ?? '', /^image\/svg/);
    const svg = await chart.text();
    assert.match(svg, /^<svg /);
    assert.ok(!svg.includes(server.publishable));
  } finally {
    app.kill();
    await once(app, 'exit');
  }
});

test('agent.mjs calls tools and reads their cost', async () => {
  const text = await output(process.execPath, [join(EXAMPLES, 'agent.mjs')], server.publishable);
  assert.match(text, /search_datasets: [\s\S]*PRICES/);
  assert.match(text, /ACME,103\.9\nBOLT,20\.8/);
  assert.match(text, /allowance: /);
});

test('the cells of notebook.ipynb run one after the other', async () => {
  const { cells } = JSON.parse(readFileSync(join(EXAMPLES, 'notebook.ipynb'), 'utf8')) as {
    readonly cells: readonly { readonly cell_type: string; readonly source: readonly string[] }[];
  };
  const code = cells
    .filter((cell) => cell.cell_type === 'code')
    .map(({ source }) => source.join(''));
  const text = await output('/usr/bin/python3', ['-c', code.join('\n\n')], server.publishable);
  assert.equal(text, '2026-01-06 +1.63%\n2026-01-07 -1.31%\n2026-01-08 +2.47%\n');
});

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of stdout ?? []) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return text.trim();
}
