// Orphans: what a crash left between a file and its commit. Swept at start, before anything runs.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from './database.ts';
import type { Disk } from './disk.ts';
import type { Files } from './files.ts';
import type { Folder } from './folder.ts';
import { tableFolders } from './lakeRead.ts';

/** Removes unfinished and unnamed files; returns how many lake files no commit had named. */
export async function sweepOrphans(
  database: Database,
  files: Files,
  folder: Folder,
  disk: Disk,
): Promise<number> {
  for (const name of await readdir(folder.temporary)) {
    await disk.remove(join(folder.temporary, name));
  }
  const named = await namedPaths(database);
  const orphans = (await files.list()).filter((path) => !named.has(path));
  await files.remove(orphans);
  return orphans.length;
}

async function namedPaths(database: Database): Promise<ReadonlySet<string>> {
  const folders = await tableFolders(database);
  const data = await database
    .selectFrom('ducklake_data_file')
    .select(['table_id', 'path'])
    .execute();
  const deletes = await database
    .selectFrom('ducklake_delete_file')
    .select(['table_id', 'path'])
    .execute();
  return new Set([...data, ...deletes].map((row) => `${folders.get(row.table_id)}${row.path}`));
}
