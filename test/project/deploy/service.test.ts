// The unit of systemd: systemd parses it, and it starts and stops the same program as the image.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { programIn } from '../../base/servers/daemon.ts';
import { deployed, DRAIN_SECONDS, readInstruction, ROOT, secondsOf } from './deployFiles.ts';
import { listOf, variablesOf } from './dockerfile.ts';

const text = deployed('systemd/tapedeck.service');

/** Ten times the exposure that `systemd-analyze security` reports: 0 is closed, 100 open. */
const EXPOSURE_MAX = 20;

const valueOf = (name: string): string =>
  new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? expect.fail(`no ${name}`);

test('it starts the same program as the image does', () => {
  const [node = '', ...words] = valueOf('ExecStart').split(' ');
  expect(words).toEqual([
    ...listOf(readInstruction('ENTRYPOINT')).slice(1),
    ...listOf(readInstruction('CMD')),
  ]);
  const [folder] = (variablesOf(readInstruction('ENV'))['PATH'] ?? '').split(':');
  expect(node).toBe(`${folder}/node`);
});

test('it stops by the same signal, in more time than the server takes', () => {
  expect(valueOf('KillSignal')).toBe(readInstruction('STOPSIGNAL'));
  expect(secondsOf(valueOf('TimeoutStopSec'))).toBeGreaterThan(DRAIN_SECONDS);
  expect(text).toContain(`TAPEDECK_DRAIN (${DRAIN_SECONDS} s)`);
  expect(valueOf('Restart')).toBe('on-failure');
});

test('it may write only the data folder, which only it can access', () => {
  const { TAPEDECK_DATA } = variablesOf(valueOf('Environment'));
  expect(TAPEDECK_DATA).toBe(`/var/lib/${valueOf('StateDirectory')}`);
  expect(valueOf('StateDirectoryMode')).toBe('0700');
  expect(valueOf('ProtectSystem')).toBe('strict');
  expect(valueOf('User')).not.toBe('root');
  expect(text).not.toMatch(/^ReadWritePaths=/m);
});

describe('systemd', async () => {
  const program = await programIn('systemd-analyze', ['/usr/bin']);
  const systemdTest = test.skipIf(program === undefined && process.env['CI'] !== 'true');
  const folder = mkdtempSync(join(tmpdir(), 'tapedeck-unit-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Analyzes a unit whose program is that of this clone. */
  function analyze(unit: string, ...args: readonly string[]): readonly [number | null, string] {
    if (program === undefined) expect.fail('systemd-analyze is missing (Debian: systemd)');
    const path = join(folder, 'tapedeck.service');
    writeFileSync(path, unit.replaceAll('/opt/tapedeck', ROOT));
    const ran = spawnSync(program, [...args, path], { encoding: 'utf8' });
    return [ran.status, `${args[0] === 'verify' ? '' : ran.stdout}${ran.stderr}`];
  }

  systemdTest('finds no fault in it, and finds a planted one', () => {
    expect(analyze(text, 'verify', '--man=no')).toEqual([0, '']);
    const [, output] = analyze(text.replace('RestartSec=', 'RestartSecs='), 'verify', '--man=no');
    expect(output).toContain('RestartSecs');
  });

  systemdTest('finds it little exposed', () => {
    const how = ['security', '--offline=true', `--threshold=${EXPOSURE_MAX}`, '--no-pager'];
    const [status, output] = analyze(text, ...how);
    expect([status, output]).toEqual([0, expect.stringContaining('Overall exposure level')]);
    expect(analyze(text.replace('SystemCallFilter=@system-service\n', ''), ...how)[0]).not.toBe(0);
  });
});
