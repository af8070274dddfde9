// The Dockerfile: a linter finds no fault, and the image contains all files of the clone that a server needs.
// The server runs here as in the image, except for its root folder and its user; no image is built.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { validate } from 'dockerfile-utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../base/servers/daemon.ts';
import {
  deployed,
  DRAIN_SECONDS,
  fallbackOf,
  readInstruction,
  lastStage,
  ROOT,
} from './deployFiles.ts';
import { copyInto, instructionsOf, listOf, variablesOf } from './dockerfile.ts';

const text = deployed('Dockerfile');
const START_MS = 60_000;

test('a linter finds nothing', () => {
  expect(validate(text)).toEqual([]);
  expect(validate(text.replace('STOPSIGNAL', 'STOPSIGNALS'))).not.toEqual([]);
});

test('the image does not run as root, has no shell, and stores all data in one volume', () => {
  expect(readInstruction('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(lastStage().filter(({ keyword }) => keyword === 'RUN')).toEqual([]);
  for (const keyword of ['ENTRYPOINT', 'CMD']) listOf(readInstruction(keyword));
  expect(readInstruction('HEALTHCHECK')).toMatch(/^CMD \[/);
  const volume = readInstruction('VOLUME');
  expect(readInstruction('WORKDIR')).toBe(volume);
  const env = variablesOf(readInstruction('ENV'));
  expect(env['TAPEDECK_DATA']).toBe(`${volume}/data`);
  // With a bucket it is the setting's own default, relative to the working directory.
  expect(join(volume, fallbackOf('TAPEDECK_FOLDER'))).toBe(env['TAPEDECK_DATA']);
  const own = lastStage().find(
    ({ rest }) => rest.endsWith(` ${volume}`) && rest.startsWith(volume),
  );
  expect(own?.flags['chown']).toBe(readInstruction('USER'));
});

test("ports, the signal to stop and the time for it are the server's own", () => {
  expect(readInstruction('EXPOSE')).toBe(fallbackOf('TAPEDECK_PORT'));
  expect(readInstruction('STOPSIGNAL')).toBe('SIGTERM');
  const [, seconds = ''] = /docker stop waits only 10 s without --time (\d+)/.exec(text) ?? [];
  expect(Number(seconds)).toBeGreaterThan(DRAIN_SECONDS);
  expect(text).toContain(`TAPEDECK_DRAIN (${DRAIN_SECONDS} s);`);
});

test('the base image is an argument with a tag, of the major version of Node in the lock file', () => {
  const defaults = instructionsOf(text).filter(({ keyword }) => keyword === 'ARG');
  const used = instructionsOf(text).filter(({ keyword }) => keyword === 'FROM');
  expect(used.map(({ rest }) => rest)).toEqual(['${BUILD_IMAGE} AS build', 'scratch']);
  for (const { rest } of defaults) expect(rest).toMatch(/^\w+=[a-z0-9./-]+:(?!latest$)[\w.-]+$/);
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly version?: string }>>;
  };
  const major = lock.packages['node_modules/node']?.version?.split('.')[0];
  expect(defaults[0]?.rest).toContain(`=node:${major}-`);
});

/** Copies the build context that the daemon would receive. */
function context(folder: string): void {
  const [first, ...lines] = deployed('Dockerfile.dockerignore').trim().split('\n');
  expect(first).toBe('*');
  for (const line of lines) {
    expect(line).toMatch(/^!/);
    const path = line.slice(1);
    expect([line, existsSync(join(ROOT, path))]).toEqual([line, true]);
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
}

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tapedeck-image-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** The file tree of the last stage, created by the Dockerfile. */
function imageTree(): string {
  const places = { build: join(root, 'build'), image: join(root, 'image') };
  const clone = join(places.build, 'opt/tapedeck');
  mkdirSync(clone, { recursive: true });
  context(clone);
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  const runs = instructionsOf(text).filter(({ keyword }) => keyword === 'RUN');
  expect(runs[0]?.rest).toMatch(/^npm ci --omit=dev /);
  for (const { rest } of runs.slice(1)) {
    const script = rest.replaceAll(/ \/(?:var\/lib|opt)\/|=\/opt\//g, (path) => {
      const [sign = ' '] = path;
      return `${sign}${places.build}${path.slice(1)}`;
    });
    execFileSync('sh', ['-ec', script], { cwd: clone });
  }
  for (const one of lastStage()) if (one.keyword === 'COPY') copyInto(places, one);
  return places.image;
}

test('the image starts, is healthy, serves commands, and ends at its signal', async () => {
  const image = imageTree();
  expect(existsSync(join(image, 'opt/tapedeck/cli'))).toBe(false);
  expect(existsSync(join(image, 'opt/tapedeck/build/docs/guides/vendors.md'))).toBe(true);
  const libraries = readdirSync(join(image, 'lib'), { recursive: true }).map(String);
  for (const name of ['libc.so.6', 'libm.so.6', 'libstdc++.so.6', 'libgcc_s.so.1']) {
    expect([name, libraries.some((path) => path.endsWith(`/${name}`))]).toEqual([name, true]);
  }
  expect(readdirSync(join(image, 'lib64')).join()).toMatch(/^ld-linux/);
  const inImage = (word: string): string =>
    word.replaceAll(/\/(?:opt|var\/lib)\/tapedeck/g, `${image}$&`);
  const port = String(await freePort());
  const variables = variablesOf(inImage(readInstruction('ENV')));
  const env = { ...variables, TAPEDECK_PORT: port, TAPEDECK_LOG: 'silent' };
  const options = { env, cwd: inImage(readInstruction('WORKDIR')) };
  const run = (words: readonly string[]): ReturnType<typeof spawnSync> => {
    const [program = '', ...args] = words.map(inImage);
    return spawnSync(program, args, { ...options, encoding: 'utf8' });
  };
  const health = listOf(readInstruction('HEALTHCHECK').replace(/^CMD /, ''));
  const entry = listOf(readInstruction('ENTRYPOINT'));
  expect(run(health).status).toBe(1);

  const [program = '', ...args] = [...entry, ...listOf(readInstruction('CMD'))].map(inImage);
  const server = spawn(program, args, { ...options, stdio: 'ignore' });
  try {
    const until = performance.now() + START_MS;
    while (run(health).status !== 0) {
      expect([server.exitCode, performance.now() < until]).toEqual([null, true]);
      await sleep(100);
    }
    expect(run([...entry, 'workspace', 'create', 'W']).stdout).toBe('W\n');
    expect(run([...entry, 'recipe', 'list']).stdout).toContain('ecb');
    const page = await (await fetch(`http://127.0.0.1:${port}/console`)).text();
    expect(page).toContain('/console/assets/');
    expect(existsSync(join(image, 'var/lib/tapedeck/data/catalog.db'))).toBe(true);
    server.kill(readInstruction('STOPSIGNAL') as NodeJS.Signals);
    expect(await once(server, 'exit')).toEqual([0, null]);
  } finally {
    server.kill('SIGKILL');
  }
  expect(run(health).status).toBe(1);
});
