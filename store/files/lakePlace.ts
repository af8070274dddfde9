// Where the files of a lake are, as one place: what there is, the lake's own note, and where that is put
// aside which no catalog knows.
import { statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from '../base/disk.ts';
import type { Folder } from '../catalog/folder.ts';
import { type Head, HEAD_FILE, headIn, headText } from './lakeHead.ts';
import { endUnclaimed, putAside } from './unclaimed.ts';

interface PlacedFile {
  /** Below the lake's root. */
  readonly path: string;
  /** So young that another server may be about to commit it. */
  readonly isYoung: boolean;
}

export interface SizedFile {
  readonly path: string;
  readonly bytes: number;
}

export interface LakePlace {
  /** As an operator finds it. */
  readonly name: string;
  list(): Promise<readonly PlacedFile[]>;
  /** Of these, by their paths, what is not there in its whole length. */
  missing(files: readonly SizedFile[]): Promise<readonly string[]>;
  /** Undefined where there is no note, or none that can be read: power may be lost while it is written. */
  readHead(): Promise<Head | undefined>;
  /** Replaces it in one step. */
  writeHead(head: Head): Promise<void>;
  /** Takes files out of the lake, into a place of this moment; that place. */
  putAside(paths: readonly string[], nowMs: number): Promise<string>;
  /** Removes what was put aside longer ago than it is kept. */
  endAside(nowMs: number): Promise<void>;
}

/** The folder `lake` of the data folder. */
export const localPlace = (folder: Folder, disk: Disk): LakePlace => ({
  name: folder.lake,
  list: async () => {
    const paths = await disk.list(folder.lake);
    return paths.map((path) => ({ path, isYoung: false }));
  },
  missing: async (files) => files.filter((file) => !isWhole(folder, file)).map(({ path }) => path),
  readHead: async () => headIn(await textOf(join(folder.lake, HEAD_FILE))),
  // Not synced: it must outlive a kill, and after a loss of power an older one, or none, only makes the
  // start more careful.
  writeHead: async (head) => {
    const fresh = join(folder.lake, `${HEAD_FILE}.new`);
    await writeFile(fresh, headText(head), { mode: 0o600 });
    await disk.rename(fresh, join(folder.lake, HEAD_FILE));
  },
  putAside: (paths, nowMs) => putAside(paths, folder, nowMs, disk),
  endAside: (nowMs) => endUnclaimed(folder, nowMs, disk),
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
