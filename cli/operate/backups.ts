// `tapedeck backup`, `backup verify`, `restore`.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BackupSummary } from '../../jobs/backup/backup.ts';
import { restoreBackup, verifyBackup } from '../../jobs/backup/restore.ts';
import { localDisk } from '../../store/base/disk.ts';
import { Failure } from '../../store/base/failure.ts';
import { WAITING_WORK, wake } from '../../store/catalog/restoreGuard.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { withAdmin } from '../connect/adminApi.ts';
import { printTo, type Terminal } from '../connect/terminal.ts';
import { megabytes } from '../print/bytesText.ts';
import { noFolderSentence } from '../connect/folderAccess.ts';

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
  withAdmin(settings, async (call) => {
    const print = printTo(terminal);
    const body = { target: resolve(terminal.folder, target), withoutKey, copy };
    const backup = (await call('POST', '/backup', body)) as BackupSummary;
    if (json === true) return print(JSON.stringify(backup));
    const all = `${backup.files} files, ${megabytes(backup.bytes)}`;
    const added = `${backup.newFiles} new ones, ${megabytes(backup.newBytes)}`;
    const linked = backup.linkedFiles === 0 ? '' : `, ${backup.linkedFiles} of them linked`;
    print(`snapshot ${backup.snapshot} in ${backup.target}: ${all}; ${added}${linked}`);
    if (!backup.key) print(NO_KEY);
  });

export async function verify(
  folder: string,
  { json }: JsonOption,
  terminal: Terminal,
): Promise<void> {
  const print = printTo(terminal);
  const { manifest, faults } = await verifyBackup(resolve(terminal.folder, folder));
  const { made: createdAt, snapshot, count: files, bytes } = manifest;
  if (faults.length > 0) terminal.endWith(1);
  if (json === true)
    return print(JSON.stringify({ made: createdAt, snapshot, files, bytes, faults }));
  print(`snapshot ${snapshot} of ${createdAt}: ${files} files, ${megabytes(bytes)}`);
  for (const line of faults.length === 0 ? ['every file is as it was'] : faults) print(line);
}

export async function restore(
  from: string,
  folder: string,
  { awake = false, json }: RestoreOptions,
  terminal: Terminal,
): Promise<void> {
  const print = printTo(terminal);
  const target = resolve(terminal.folder, folder);
  const manifest = await restoreBackup(resolve(terminal.folder, from), target, localDisk, awake);
  const { made: createdAt, snapshot, count: files, bytes, key } = manifest;
  if (json === true)
    return print(JSON.stringify({ target, made: createdAt, snapshot, files, bytes, key }));
  print(`snapshot ${snapshot} of ${createdAt} in ${target}: ${files} files, ${megabytes(bytes)}`);
  print(`Serve it with TAPEDECK_DATA=${target}`);
  if (!awake) print(`It is asleep: ${WAITING_WORK}.`);
  if (!key) print(NO_KEY);
}

export function wakeFolder({ data }: Settings, terminal: Terminal): void {
  const folder = resolve(terminal.folder, data);
  if (!existsSync(folder)) throw new Failure('NotFound', noFolderSentence(folder));
  const slept = wake(folder);
  printTo(terminal)(
    slept
      ? `${folder} is awake: what is due begins, within seconds where a server runs on it`
      : `${folder} was not asleep`,
  );
}
