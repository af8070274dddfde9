// The storage location of a lake: its files, its head file, and the folder for files that are in no catalog.
import { statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from '../base/disk.ts';
import type { Folder } from '../catalog/folder.ts';
import { type LakeHead, HEAD_FILE, parseHead, formatHead } from './lakeHead.ts';
import { removeExpired, moveAside } from './unclaimed.ts';

interface PlacedFile {
  /** Below the lake's root. */
  readonly path: string;
  /** It was written so recently that another server may be about to commit it. */
  readonly isYoung: boolean;
}

export interface SizedFile {
  readonly path: string;
  readonly bytes: number;
}

export interface LakePlace {
  /** The location, for the operator. */
  readonly name: string;
  list(): Promise<readonly PlacedFile[]>;
  /** Returns the paths of files that are missing or do not have their full length. */
  missing(files: readonly SizedFile[]): Promise<readonly string[]>;
  /** Undefined if the head file is missing or invalid, because power may be lost during its write. */
  readHead(): Promise<LakeHead | undefined>;
  /** Replaces the head file atomically. */
  writeHead(head: LakeHead): Promise<void>;
  /** Moves files out of the lake to a folder of this time. @returns that folder */
  moveAside(paths: readonly string[], nowMs: number): Promise<string>;
  /** Removes moved files after their retention time. */
  removeExpired(nowMs: number): Promise<void>;
}

/** The folder `lake` of the data folder. */
export const localPlace = (folder: Folder, disk: Disk): LakePlace => ({
  name: folder.lake,
  list: async () => {
    const paths = await disk.list(folder.lake);
    return paths.map((path) => ({ path, isYoung: false }));
  },
  missing: async (files) => files.filter((file) => !isWhole(folder, file)).map(({ path }) => path),
  readHead: async () => parseHead(await textOf(join(folder.lake, HEAD_FILE))),
  // Not synced: it must survive a kill; after a power loss an older or missing head file only makes the
  // start more careful.
  writeHead: async (head) => {
    const fresh = join(folder.lake, `${HEAD_FILE}.new`);
    await writeFile(fresh, formatHead(head), { mode: 0o600 });
    await disk.rename(fresh, join(folder.lake, HEAD_FILE));
  },
  moveAside: (paths, nowMs) => moveAside(paths, folder, nowMs, disk),
  removeExpired: (nowMs) => removeExpired(folder, nowMs, disk),
});

const isWhole = ({ lake }: Folder, { bytes, path }: SizedFile): boolean =>
  statSync(join(lake, path), { throwIfNoEntry: false })?.size === bytes;

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw error;
  }
}
