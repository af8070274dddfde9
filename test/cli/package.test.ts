// The tarball works when it is installed outside the clone: help, a server, a response.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');

/** Unpacks the tarball as an installation would place it, with the clone's own dependencies. */
async function install(folder: string): Promise<string> {
  const packed = execFileSync('npm', ['pack', '--pack-destination', folder, '--json'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const report = JSON.parse(packed.toString()) as unknown;
  const [entry] = Array.isArray(report) ? report : Object.values(report as object);
  const { filename } = entry as { readonly filename: string };
  const modules = join(folder, 'app', 'node_modules');
  await mkdir(modules, { recursive: true });
  execFileSync('tar', ['xzf', join(folder, filename), '-C', modules]);
  execFileSync('mv', [join(modules, 'package'), join(modules, 'tapedeck')]);
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    // The console is compiled in advance: a package needs no compiler.
    if (name.startsWith('.') || name === 'esbuild') continue;
    await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  }
  return join(modules, 'tapedeck', 'bin', 'tapedeck.mjs');
}

test('the package works under node_modules, outside the clone', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-pack-'));
  t.onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const command = await install(folder);
  const cwd = join(folder, 'app');
  const help = execFileSync(process.execPath, [command, '--help'], { cwd }).toString();
  assert.match(help, /Usage: tapedeck[\s\S]+serve[\s\S]+ingest/);
  const recipes = execFileSync(process.execPath, [command, 'recipe', 'list'], { cwd }).toString();
  assert.match(recipes, /fred-series[\s\S]+us-treasury-yields/);
  const env = {
    TAPEDECK_DATA: join(folder, 'data'),
    TAPEDECK_PORT: '0',
    TAPEDECK_LOG: 'silent',
    TAPEDECK_DEMO: 'off',
  };
  const server = spawn(process.execPath, [command, 'serve'], { cwd, env });
  t.onTestFinished(() => void server.kill('SIGKILL'));
  const base = await new Promise<string>((resolve, reject) => {
    let text = '';
    const hear = (piece: Buffer): void => {
      text += piece.toString();
      const address = /listens on (\S+)/.exec(text)?.[1];
      if (address !== undefined) resolve(address);
    };
    server.stdout.on('data', hear);
    server.stderr.on('data', hear);
    server.once('exit', () => reject(new Error(text)));
  });
  const tokens = execFileSync(process.execPath, [command, 'tokens', 'list', '--show'], {
    cwd,
    env,
  });
  const secret = /sk_\w+/.exec(tokens.toString())?.[0] ?? '';
  const response = await fetch(`${base}/v1/workspaces?token=${secret}`, {
    method: 'POST',
    body: '{"name":"W"}',
  });
  assert.equal(response.status, 200);
  const loaded = await fetch(`${base}/v1/data/W/P?wait=true&token=${secret}`, {
    method: 'POST',
    body: 'symbol,date,price\nA,2020-01-01,1\n',
  });
  assert.equal(loaded.status, 200, await loaded.text());
  const read = await fetch(`${base}/v1/data/W/P/A?token=${secret}`);
  assert.equal(await read.text(), '[{"symbol":"A","date":"2020-01-01","price":1}]');
  const page = await (await fetch(`${base}/console`)).text();
  const scripts = page.match(/\/console\/assets\/[\w-]+\.(?:js|css)/g) ?? [];
  assert.ok(scripts.length >= 2, page);
  for (const path of scripts) assert.equal((await fetch(`${base}${path}`)).status, 200, path);
});
