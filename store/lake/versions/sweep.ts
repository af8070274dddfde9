// Sweeps orphaned files of a crash between a file and its commit. Runs at start, before anything else: files
// that this catalog wrote and never committed, or released, are removed; unknown files are moved aside.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readCatalogHead, isHeadFile, type Ownership } from '../../files/catalogCheck.ts';
import type { Clock } from '../../base/clock.ts';
import type { CatalogPlace } from '../../catalog/catalogPlace.ts';
import { withDatabase, type Database } from '../../catalog/database.ts';
import type { Disk } from '../../base/disk.ts';
import type { Files } from '../../files/files.ts';
import type { Folder } from '../../catalog/folder.ts';
import { tableFolders } from './lakeRead.ts';
import { readTombstones, deleteTombstones } from '../../files/fileTombstones.ts';
import { readStamp } from './stamp.ts';
import type { LakePlace } from '../../files/lakePlace.ts';

interface SweepParts {
  readonly database: Database;
  readonly files: Files;
  readonly folder: Folder;
  readonly place: LakePlace;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly ownership: Ownership;
}

interface SweepCounts {
  readonly removed: number;
  readonly aside: number;
  /** Folder of the files that were moved aside. */
  readonly folder: string;
}

export async function sweepOrphans(parts: SweepParts): Promise<SweepCounts> {
  const { clock, database, disk, files, folder, ownership, place } = parts;
  for (const name of await readdir(folder.temporary)) {
    await disk.remove(join(folder.temporary, name));
  }
  const named = await listNamedPaths(database);
  const ended = await readTombstones(database);
  const garbage: string[] = [];
  const foreign: string[] = [];
  for (const { isYoung, path } of await place.list()) {
    if (named.has(path) || isHeadFile(path)) continue;
    if (ended.has(path) || (await isOwn(path, files, ownership))) garbage.push(path);
    else if (!isYoung) foreign.push(path);
  }
  // A copy may exist of a file that its place has already lost.
  const unlisted = [...ended].filter((path) => !named.has(path));
  await files.remove([...new Set([...unlisted, ...garbage])]);
  await files.syncRemovals(garbage);
  await deleteTombstones(database, [...ended]);
  await place.removeExpired(clock());
  const aside = foreign.length === 0 ? '' : await place.moveAside(foreign, clock());
  return { removed: garbage.length, aside: foreign.length, folder: aside };
}

/** Whether one of the latest runs on this catalog wrote the file: the catalog has all their commits. */
async function isOwn(
  path: string,
  files: Pick<Files, 'openLocal'>,
  { lake, isProved, runs }: Ownership,
): Promise<boolean> {
  if (!isProved) return false;
  const borrowed = await files.openLocal(path);
  const stamp = await readStamp(borrowed.path).finally(() => borrowed.release());
  return stamp?.lake === lake && runs.includes(stamp.run);
}

/**
 * Moves all unreferenced files aside, together with the files' own head note. Runs without a server, for a
 * catalog that must continue regardless of its files.
 * @returns the folder of the moved files
 */
export async function moveUnnamedAside(
  catalog: CatalogPlace,
  place: LakePlace,
  nowMs: number,
): Promise<string> {
  const named = (await catalog.exists()) ? await readNamedPaths(catalog) : new Set<string>();
  const all = (await place.list()).map(({ path }) => path);
  return place.moveAside(
    all.filter((path) => !named.has(path)),
    nowMs,
  );
}

const readNamedPaths = (catalog: CatalogPlace): Promise<ReadonlySet<string>> =>
  withDatabase(catalog.open(), async (database) =>
    (await readCatalogHead(database)) === undefined ? new Set<string>() : listNamedPaths(database),
  );

/** Lists the paths of all data and delete files of all versions, relative to the lake's root. */
async function listNamedPaths(database: Database): Promise<ReadonlySet<string>> {
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
