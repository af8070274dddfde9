// `tapedeck backup`, `backup verify`, `restore`.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BackupTold } from '../../jobs/backup/backup.ts';
import { restoreBackup, verifyBackup } from '../../jobs/backup/restore.ts';
import { localDisk } from '../../store/base/disk.ts';
import { Failure } from '../../store/base/failure.ts';
import { wake } from '../../store/catalog/asleep.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { withAdmin } from '../reach/adminApi.ts';
import { sayTo, type Terminal } from '../reach/terminal.ts';
import { megabytes } from '../print/bytesText.ts';

interface JsonOption {
  readonly json?: boolean;
}

export interface RestoreOptions extends JsonOption {
  readonly awake?: boolean;
}

export interface BackupOptions extends JsonOption {
  readonly withoutKey?: boolean;
  readonly copy?: boolean;
}

const NO_KEY = 'It has no data key: it can only be served with TAPEDECK_ENCRYPTION_KEY.';

export const makeBackup = (
  target: string,
  { withoutKey = false, copy = false, json }: BackupOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> =>
  withAdmin(settings, async (ask) => {
    const say = sayTo(terminal);
    const body = { target: resolve(terminal.folder, target), withoutKey, copy };
    const made = (await ask('POST', '/backup', body)) as BackupTold;
    if (json === true) return say(JSON.stringify(made));
    const all = `${made.files} files, ${megabytes(made.bytes)}`;
    const added = `${made.newFiles} new ones, ${megabytes(made.newBytes)}`;
    const linked = made.linkedFiles === 0 ? '' : `, ${made.linkedFiles} of them linked`;
    say(`snapshot ${made.snapshot} in ${made.target}: ${all}; ${added}${linked}`);
    if (!made.key) say(NO_KEY);
  });

export async function verify(
  folder: string,
  { json }: JsonOption,
  terminal: Terminal,
): Promise<void> {
  const say = sayTo(terminal);
  const { manifest, faults } = await verifyBackup(resolve(terminal.folder, folder));
  const { made, snapshot, count: files, bytes } = manifest;
  if (faults.length > 0) terminal.endWith(1);
  if (json === true) return say(JSON.stringify({ made, snapshot, files, bytes, faults }));
  say(`snapshot ${snapshot} of ${made}: ${files} files, ${megabytes(bytes)}`);
  for (const line of faults.length === 0 ? ['every file is as it was'] : faults) say(line);
}

export async function restore(
  from: string,
  folder: string,
  { awake = false, json }: RestoreOptions,
  terminal: Terminal,
): Promise<void> {
  const say = sayTo(terminal);
  const target = resolve(terminal.folder, folder);
  const manifest = await restoreBackup(resolve(terminal.folder, from), target, localDisk, awake);
  const { made, snapshot, count: files, bytes, key } = manifest;
  if (json === true) return say(JSON.stringify({ target, made, snapshot, files, bytes, key }));
  say(`snapshot ${snapshot} of ${made} in ${target}: ${files} files, ${megabytes(bytes)}`);
  say(`Serve it with TAPEDECK_DATA=${target}`);
  if (!awake)
    say('It is asleep: schedules, webhooks, alerts and exports wait until `tapedeck wake`.');
  if (!key) say(NO_KEY);
}

export function wakeFolder({ data }: Settings, terminal: Terminal): void {
  const folder = resolve(terminal.folder, data);
  if (!existsSync(folder)) throw new Failure('NotFound', `there is no data folder ${folder}`);
  const slept = wake(folder);
  sayTo(terminal)(
    slept
      ? `${folder} is awake: what is due begins, within seconds where a server runs on it`
      : `${folder} was not asleep`,
  );
}
