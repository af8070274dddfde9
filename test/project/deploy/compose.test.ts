// The files of compose: parsed by compose itself, without a daemon, and consistent with the image and the
// server.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parseDatabaseSettings } from '../../../store/base/settings/databaseSettings.ts';
import { programIn } from '../../base/servers/daemon.ts';
import {
  DEPLOY,
  deployed,
  DRAIN_SECONDS,
  readInstruction,
  secondsOf,
  yamlOf,
} from './deployFiles.ts';

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly env_file?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly stop_grace_period: string;
  readonly deploy?: unknown;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const BASE = 'compose.yaml';
const POSTGRES = 'compose.postgres.yaml';
const composeOf = (path: string): Compose => yamlOf(deployed(path)) as Compose;

function serviceOf(path: string, name: string): Service {
  const service = composeOf(path).services[name];
  if (service === undefined) throw new Error(`${path} has no ${name}`);
  return service;
}

const server = serviceOf(BASE, 'tapedeck');

test('the server is built from the clone, and reachable only from this machine', () => {
  expect(existsSync(join(DEPLOY, server.build?.context ?? '', 'package.json'))).toBe(true);
  expect(existsSync(join(DEPLOY, '..', server.build?.dockerfile ?? ''))).toBe(true);
  const port = readInstruction('EXPOSE');
  expect(server.ports).toEqual([`127.0.0.1:${port}:${port}`]);
  expect(server.volumes).toEqual([`data:${readInstruction('VOLUME')}`]);
  expect(secondsOf(server.stop_grace_period)).toBeGreaterThan(DRAIN_SECONDS);
});

test('there is one server, with the same address of PostgreSQL on both sides', () => {
  const [first, second] = [serviceOf(POSTGRES, 'tapedeck'), serviceOf(POSTGRES, 'postgres')];
  const all = [server, first, second];
  expect(all.filter((service) => 'deploy' in service || 'scale' in service)).toEqual([]);
  const url = first.environment?.['TAPEDECK_DATABASE'] ?? '';
  const { host, port, user, database, tls } =
    parseDatabaseSettings(url.replace(/\$\{[^}]+\}/, 'secret')) ?? expect.fail(url);
  expect([host, port, tls]).toEqual(['postgres', 5432, 'off']);
  expect(second.environment).toMatchObject({ POSTGRES_USER: user, POSTGRES_DB: database });
  expect(Number(/^postgres:(\d+)/.exec(second.image)?.[1])).toBeGreaterThanOrEqual(13);
});

test('no file contains a secret', () => {
  const values = [BASE, POSTGRES]
    .flatMap((path) => Object.values(composeOf(path).services))
    .flatMap(({ environment = {} }) => Object.entries(environment))
    .filter(([name]) => /PASSWORD|TOKEN|KEY|SECRET|DATABASE/.test(name));
  expect(values.length).toBe(2);
  for (const [name, value] of values)
    expect([name, value]).toEqual([name, expect.stringContaining('${')]);
  const lines = deployed('env.example')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines).toEqual([]);
});

describe('compose', async () => {
  const program = await programIn('docker-compose', ['/usr/bin']);
  const composeTest = test.skipIf(program === undefined && process.env['CI'] !== 'true');
  const folder = mkdtempSync(join(tmpdir(), 'tapedeck-compose-'));
  cpSync(DEPLOY, join(folder, 'deploy'), { recursive: true });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs compose in the folder of the clone, with this content of deploy/.env. */
  function read(
    files: readonly string[],
    env: string,
  ): { readonly ok: boolean; readonly output: string } {
    if (program === undefined) expect.fail('docker-compose is missing (Debian: docker-compose)');
    writeFileSync(join(folder, 'deploy', '.env'), env);
    const args = files.flatMap((path) => ['--file', join('deploy', path)]);
    const ran = spawnSync(program, [...args, 'config'], { cwd: folder, encoding: 'utf8' });
    return { ok: ran.status === 0, output: ran.status === 0 ? ran.stdout : ran.stderr };
  }

  composeTest('reads one server, with the settings of deploy/.env', () => {
    const { ok, output } = read([BASE], 'TAPEDECK_ADMIN_TOKEN=ak_0123456789abcdef\n');
    expect([ok, output]).toEqual([true, expect.stringContaining('ak_0123456789abcdef')]);
  });

  composeTest('reads the catalog in PostgreSQL, and reports a missing password', () => {
    const { ok, output } = read([BASE, POSTGRES], 'POSTGRES_PASSWORD=a1b2c3\n');
    expect([ok, output]).toEqual([true, expect.stringContaining('tapedeck:a1b2c3@postgres:5432')]);
    const without = read([BASE, POSTGRES], '');
    expect([without.ok, without.output]).toEqual([false, expect.stringContaining('write it into')]);
  });

  composeTest('refuses a misspelled key', () => {
    const wrong = deployed(BASE).replace('read_only:', 'readonly:');
    writeFileSync(join(folder, 'deploy', 'wrong.yaml'), wrong);
    expect(read(['wrong.yaml'], '').output).toContain('readonly');
  });
});
