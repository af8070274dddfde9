// Replaces damaged files with their copies in a backup, each in one step: only where the copy's hash is that
// of the original content.
import { join, resolve } from 'node:path';
import type { Folder } from '../../store/catalog/folder.ts';
import type { Files } from '../../store/files/files.ts';
import { newUuid } from '../../store/base/random.ts';
import type { Disk } from '../../store/base/disk.ts';
import { Failure } from '../../store/base/failure.ts';
import { digestFile } from '../../store/base/fileDigest.ts';
import { copyFile } from '../backup/backupFiles.ts';
import { readManifest } from '../backup/backupManifest.ts';
import type { FileCheck } from './fileCheck.ts';
import type { FilesVerdict } from './filesVerdict.ts';

interface HealParts {
  readonly fileCheck: FileCheck;
  readonly files: Pick<Files, 'repair'>;
  readonly disk: Disk;
  readonly folder: Folder;
}

interface Healed {
  /** Paths relative to the data folder. */
  readonly healed: readonly string[];
  /** Files that are still damaged, and why. */
  readonly left: FilesVerdict['damaged'];
}

/** @throws Failure when there is no backup at `from`, or its manifest is damaged. */
export async function healFiles(from: string, parts: HealParts): Promise<Healed> {
  const backup = resolve(from);
  const manifest = await readManifest(backup);
  if (manifest === undefined) {
    throw new Failure('InvalidParameter', `${backup} holds no backup: nothing was healed`);
  }
  const backupFiles = new Map(manifest.files.map((file) => [file.path, file]));
  const { damaged } = await parts.fileCheck.checkAll();
  const healed: string[] = [];
  for (const { folder, path: name, sha256 } of damaged) {
    const path = `${folder}/${name}`;
    const file = backupFiles.get(path);
    if (file === undefined || file.sha256 !== sha256) continue;
    if ((await digestFile(join(backup, file.path))).sha256 !== sha256) continue;
    const source = join(backup, file.path);
    if (folder === 'lake') {
      const temporary = join(parts.folder.temporary, newUuid());
      const content = await copyFile(source, temporary, parts.disk);
      await parts.files.repair(temporary, name, content);
    } else await copyFile(source, join(parts.folder.root, path), parts.disk);
    healed.push(path);
  }
  const { damaged: left } = await parts.fileCheck.checkAll();
  return { healed, left };
}
