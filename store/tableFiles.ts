// A table's files in hand: pinned for as long as something reads them.
import type { Files } from './files.ts';
import type { DataFile } from './lakeRead.ts';
import type { PathOf } from './tableSql.ts';

export interface OpenFiles {
  /** Local paths of the data files and their delete files. */
  readonly paths: readonly string[];
  readonly pathOf: PathOf;
}

/** Opens data files with their delete files; none of them is removed before `work` has ended. */
export async function withOpenFiles<T>(
  files: Files,
  dataFiles: readonly DataFile[],
  work: (open: OpenFiles) => Promise<T>,
): Promise<T> {
  const relative = dataFiles.flatMap(({ path, deletes }) =>
    deletes === null ? [path] : [path, deletes.path],
  );
  const pinned = await files.open(relative);
  const local = new Map(relative.map((path, at) => [path, pinned.paths[at] ?? path]));
  try {
    return await work({ paths: pinned.paths, pathOf: (path) => local.get(path) ?? path });
  } finally {
    pinned.release();
  }
}
