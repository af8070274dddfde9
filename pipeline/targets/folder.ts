// Exports into a folder below the one that the operator opened to exports: a link or a `..` that leads out of
// it is refused. A part is renamed to its name after it is complete and synced.
import { copyFile, lstat, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { digestFile } from '../../store/base/fileDigest.ts';
import type { Disk } from '../../store/base/disk.ts';
import { Failure } from '../../store/base/failure.ts';
import { isWithin } from '../sources/accountFolder.ts';
import { SourceFailure } from '../sources/base/source.ts';
import { MANIFEST, type Part, type Target } from './target.ts';

export interface FolderRules {
  /** Undefined: no export writes files. */
  readonly exportFolder: string | undefined;
  /** The data folder, which exports must not write to. */
  readonly data: string;
  readonly disk: Disk;
}

const PATH_CHARACTERS_MAX = 1_000;
/** Limit of most file systems. */
const NAME_BYTES_MAX = 255;

/**
 * Checks the path of a folder below the folder of exports.
 * @throws Failure InvalidBody naming the broken rule.
 */
export function checkExportPath(path: string): void {
  if (path.length > PATH_CHARACTERS_MAX) {
    throw refusal(`target.path has at most ${PATH_CHARACTERS_MAX} characters`);
  }
  const parts = path.split('/');
  if (parts.some((part) => ['', '.', '..'].includes(part)) || /[\u0000-\u001f\\]/.test(path)) {
    throw refusal(
      'target.path is relative to TAPEDECK_EXPORT_FOLDER, such as a/b, without . and ..',
    );
  }
  if (parts.some((part) => Buffer.byteLength(part) > NAME_BYTES_MAX)) {
    throw refusal(`each name of target.path has at most ${NAME_BYTES_MAX} bytes`);
  }
}

const refusal = (reason: string): Failure => new Failure('InvalidBody', reason);

/**
 * @param exportId is part of the names of unfinished files
 * @throws SourceFailure if exports must not write there, or for an error of the system.
 */
export async function openFolderTarget(
  path: string,
  exportId: string,
  rules: FolderRules,
  signal: AbortSignal,
): Promise<Target> {
  checkExportPath(path);
  const folder = await folderAt(path, rules);
  const { disk } = rules;
  const unfinished = (name: string): string => join(folder, `.${name}.${exportId}`);
  /** Syncs a file and renames it, so that it is on the disk under its name or not at all. */
  const place = async (from: string, name: string): Promise<void> => {
    await disk.syncFile(from);
    await disk.rename(from, join(folder, name));
    await disk.syncFolder(folder);
  };
  return {
    manifest: () => readFile(join(folder, MANIFEST), 'utf8').catch(ifMissing),
    find: async (part) => {
      const content = await digestFile(join(folder, part.name), signal).catch(ifMissing);
      const same = content?.sha256 === part.sha256 && content.bytes === part.bytes;
      return same ? part : undefined;
    },
    deliver: async (part, delivery) =>
      withFailure(async () => {
        await makeFolder(folder, disk);
        await moveFile(delivery.path, part, unfinished(part.name), place);
        return part;
      }),
    drop: async (part) => disk.remove(unfinished(part.name)),
    finish: (manifest) =>
      withFailure(async () => {
        await makeFolder(folder, disk);
        await writeFile(unfinished(MANIFEST), manifest);
        await place(unfinished(MANIFEST), MANIFEST);
      }),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Renames within a file system; if the folder is on another one, copies the file beside its name first. */
async function moveFile(
  from: string,
  { name }: Part,
  unfinished: string,
  place: (from: string, name: string) => Promise<void>,
): Promise<void> {
  try {
    await place(from, name);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    await copyFile(from, unfinished);
    await place(unfinished, name);
  }
}

export const FOLDER_NOT_SET = 'TAPEDECK_EXPORT_FOLDER is not set: no export writes files';
export const FOLDER_MISSING = 'TAPEDECK_EXPORT_FOLDER is not there';

/** The path without links, even if the folder does not exist yet. */
async function folderAt(path: string, { data, exportFolder }: FolderRules): Promise<string> {
  if (exportFolder === undefined) {
    throw refused(FOLDER_NOT_SET);
  }
  const root = await realpath(exportFolder).catch(() => {
    throw refused(FOLDER_MISSING);
  });
  const folder = await resolvePath(join(root, path));
  if (!isWithin(folder, root)) throw refused('target.path leads out of TAPEDECK_EXPORT_FOLDER');
  if (isWithin(folder, await realpath(data))) throw refused('target.path is in the data folder');
  return folder;
}

async function resolvePath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw toFailure(error);
    // A dangling link would be followed by the write.
    const dangling = await lstat(path).catch(() => undefined);
    if (dangling !== undefined) throw refused('target.path leads through a link to nowhere');
    return join(await resolvePath(dirname(path)), path.slice(dirname(path).length));
  }
}

/** Creates a folder with the permissions of the process's umask, so that others can read exports. */
export async function makeFolder(folder: string, disk: Disk): Promise<void> {
  await mkdir(folder, { recursive: true });
  await disk.makeFolder(folder);
}

async function withFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFailure(error);
  }
}

/** Converts the system's errors to failures without paths of this machine. */
function toFailure(error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof Failure || code === undefined) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new Failure('DiskFull', 'the disk of TAPEDECK_EXPORT_FOLDER is full');
  }
  return refused(`target.path cannot be written: ${code}`);
}

function ifMissing(error: unknown): undefined {
  if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined;
  throw toFailure(error);
}

const codeOf = (error: unknown): string | undefined => (error as { code?: string }).code;
const refused = (reason: string): SourceFailure => new SourceFailure(reason, false);
