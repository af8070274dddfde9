// The context in which files are processed.
import { link, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withOwnerFolder } from '../../store/base/workFolder.ts';
import type { DuckDbPool } from '../../store/duckdb/pool.ts';
import type { Files } from '../../store/files/files.ts';

/** DuckDB processes, a folder, and a callback for progress. */
export interface Workbench {
  readonly pool: DuckDbPool;
  readonly folder: string;
  /** Folders of stored files that later statements read: one instance serves all of them. */
  readonly below?: readonly string[];
  /** Files that statements read in addition to the body. */
  readonly files?: readonly string[];
  readonly deadlineMs: number;
  readonly onProgress: (percent: number) => void;
  readonly signal?: AbortSignal;
}

interface WorkPlace {
  readonly lake: { readonly files: Pick<Files, 'localPath'> };
  readonly pool: DuckDbPool;
  readonly temporary: string;
}

/**
 * Runs `work` with a new folder, beside those of other work in the workspace. Small statements of all of it
 * run on one shared instance in turn, which accesses only files of the workspace.
 */
export function withWorkFolder<T>(
  workspace: string,
  place: WorkPlace,
  work: (bench: Pick<Workbench, 'folder' | 'pool'>) => Promise<T>,
): Promise<T> {
  const pool = workspacePool(workspace, place);
  return withOwnerFolder(workspace, place.temporary, (folder) => work({ folder, pool }));
}

/** The pool for work in a folder of the workspace. */
export function workspacePool(workspace: string, { lake, pool, temporary }: WorkPlace): DuckDbPool {
  const stored = dirname(lake.files.localPath(join(workspace, 'file')));
  return pool.forWorkspace([join(temporary, workspace), stored]);
}

/** Runs `work` with a name beside `folder` for a file that the work owns, or else with its own name. */
export async function withBodyLink<T>(
  { ownFile, path }: { readonly path: string; readonly ownFile?: boolean },
  folder: string,
  work: (path: string) => Promise<T>,
): Promise<T> {
  if (ownFile !== true) return work(path);
  // In the folder it would count as output of the work.
  const beside = `${folder}.body`;
  try {
    await link(path, beside);
  } catch {
    // The file is on another disk, or the disk has no hard links.
    return work(path);
  }
  try {
    return await work(beside);
  } finally {
    await rm(beside, { force: true });
  }
}
