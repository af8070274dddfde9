// Where files are worked on.
import { link, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inFolderOf } from '../../store/base/workFolder.ts';
import type { DuckDbPool } from '../../store/duckdb/pool.ts';
import type { Files } from '../../store/files/files.ts';

/** A child, a folder of its own, and who is told of progress. */
export interface Workbench {
  readonly pool: DuckDbPool;
  readonly folder: string;
  /** Stored files that later statements read are in here: one instance serves all of them. */
  readonly below?: readonly string[];
  /** Files that statements read besides the body. */
  readonly files?: readonly string[];
  readonly deadlineMs: number;
  readonly onProgress: (percent: number) => void;
  readonly signal?: AbortSignal;
}

interface WorkPlace {
  readonly lake: { readonly files: Pick<Files, 'placeOf'> };
  readonly pool: DuckDbPool;
  readonly temporary: string;
}

/**
 * Runs `work` with a new folder, beside those of other work in the workspace. Small statements of all of it
 * run on one instance in turn, which reads and writes what is the workspace's and nothing else.
 */
export function inWorkspace<T>(
  workspace: string,
  place: WorkPlace,
  work: (bench: Pick<Workbench, 'folder' | 'pool'>) => Promise<T>,
): Promise<T> {
  const pool = poolIn(workspace, place);
  return inFolderOf(workspace, place.temporary, (folder) => work({ folder, pool }));
}

/** For work in a folder that is one of its workspace. */
export function poolIn(workspace: string, { lake, pool, temporary }: WorkPlace): DuckDbPool {
  const stored = dirname(lake.files.placeOf(join(workspace, 'file')));
  return pool.sharing([join(temporary, workspace), stored]);
}

/** Runs `work` with a name beside `folder` for a file that is the work's own, or with its own name. */
export async function besideFolder<T>(
  { ownFile, path }: { readonly path: string; readonly ownFile?: boolean },
  folder: string,
  work: (path: string) => Promise<T>,
): Promise<T> {
  if (ownFile !== true) return work(path);
  // In the folder it would count as what the work has written.
  const beside = `${folder}.body`;
  try {
    await link(path, beside);
  } catch {
    // It is on another disk, or that has no links.
    return work(path);
  }
  try {
    return await work(beside);
  } finally {
    await rm(beside, { force: true });
  }
}
