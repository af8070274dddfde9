// A folder below the one that the operator opened to exports: a link or a `..` that leads out of it is
// refused. A part is renamed to its name once it is whole and on the disk.
import { copyFile, lstat, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { contentOf } from '../../store/base/contents.ts';
import type { Disk } from '../../store/base/disk.ts';
import { Failure } from '../../store/base/failure.ts';
import { isWithin } from '../sources/accountFolder.ts';
import { SourceFailure } from '../sources/base/source.ts';
import { MANIFEST, type Part, type Target } from './target.ts';

export interface FolderRules {
  /** Undefined: no export writes files. */
  readonly exportFolder: string | undefined;
  /** The data folder, which no export may reach. */
  readonly data: string;
  readonly disk: Disk;
}

const PATH_CHARACTERS_MAX = 1_000;
/** Of most file systems. */
const NAME_BYTES_MAX = 255;

/**
 * A path of a folder below the folder of exports.
 * @throws Failure InvalidBody naming the rule that is broken.
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
 * @param exportId is part of the names of what is unfinished
 * @throws SourceFailure when exports may not write there; the system's error made one.
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
  /** On the disk under its name, or not there. */
  const placed = async (from: string, name: string): Promise<void> => {
    await disk.syncFile(from);
    await disk.rename(from, join(folder, name));
    await disk.syncFolder(folder);
  };
  return {
    manifest: () => readFile(join(folder, MANIFEST), 'utf8').catch(ifMissing),
    find: async (part) => {
      const found = await contentOf(join(folder, part.name), signal).catch(ifMissing);
      const same = found?.sha256 === part.sha256 && found.bytes === part.bytes;
      return same ? part : undefined;
    },
    deliver: async (part, delivery) =>
      told(async () => {
        await makeFolder(folder, disk);
        await moved(delivery.path, part, unfinished(part.name), placed);
        return part;
      }),
    drop: async (part) => disk.remove(unfinished(part.name)),
    finish: (manifest) =>
      told(async () => {
        await makeFolder(folder, disk);
        await writeFile(unfinished(MANIFEST), manifest);
        await placed(unfinished(MANIFEST), MANIFEST);
      }),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Renamed within a file system; copied beside its name first where the folder is on another one. */
async function moved(
  from: string,
  { name }: Part,
  unfinished: string,
  placed: (from: string, name: string) => Promise<void>,
): Promise<void> {
  try {
    await placed(from, name);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    await copyFile(from, unfinished);
    await placed(unfinished, name);
  }
}

/** Without links, though it need not be there yet. */
async function folderAt(path: string, { data, exportFolder }: FolderRules): Promise<string> {
  if (exportFolder === undefined) {
    throw refused('TAPEDECK_EXPORT_FOLDER is not set: no export writes files');
  }
  const root = await realpath(exportFolder).catch(() => {
    throw refused('TAPEDECK_EXPORT_FOLDER is not there');
  });
  const folder = await realPathOf(join(root, path));
  if (!isWithin(folder, root)) throw refused('target.path leads out of TAPEDECK_EXPORT_FOLDER');
  if (isWithin(folder, await realpath(data))) throw refused('target.path is in the data folder');
  return folder;
}

async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw toldOf(error);
    // A link that leads nowhere would lead somewhere once it is written through.
    const dangling = await lstat(path).catch(() => undefined);
    if (dangling !== undefined) throw refused('target.path leads through a link to nowhere');
    return join(await realPathOf(dirname(path)), path.slice(dirname(path).length));
  }
}

/** Readable as the process's umask says: who exports wants others to read. */
export async function makeFolder(folder: string, disk: Disk): Promise<void> {
  await mkdir(folder, { recursive: true });
  await disk.makeFolder(folder);
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toldOf(error);
  }
}

/** The system's errors, without paths of this machine. */
function toldOf(error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof Failure || code === undefined) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new Failure('DiskFull', 'the disk of TAPEDECK_EXPORT_FOLDER is full');
  }
  return refused(`target.path cannot be written: ${code}`);
}

function ifMissing(error: unknown): undefined {
  if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined;
  throw toldOf(error);
}

const codeOf = (error: unknown): string | undefined => (error as { code?: string }).code;
const refused = (reason: string): SourceFailure => new SourceFailure(reason, false);
