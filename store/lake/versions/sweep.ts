// Orphans: what a crash left between a file and its commit. Swept at start, before anything runs: what
// this catalog wrote and never committed, or had let go, is removed; what it does not know is put aside.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { catalogHead, isHeadFile, type Ownership } from '../../files/catalogCheck.ts';
import type { Clock } from '../../base/clock.ts';
import type { CatalogPlace } from '../../catalog/catalogPlace.ts';
import { closing, type Database } from '../../catalog/database.ts';
import type { Disk } from '../../base/disk.ts';
import type { Files } from '../../files/files.ts';
import type { Folder } from '../../catalog/folder.ts';
import { tableFolders } from './lakeRead.ts';
import { endedPaths, forgetEnded } from '../../files/endedFiles.ts';
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

interface Swept {
  readonly removed: number;
  readonly aside: number;
  /** Where the files are that were put aside. */
  readonly folder: string;
}

export async function sweepOrphans(parts: SweepParts): Promise<Swept> {
  const { clock, database, disk, files, folder, ownership, place } = parts;
  for (const name of await readdir(folder.temporary)) {
    await disk.remove(join(folder.temporary, name));
  }
  const named = await namedPaths(database);
  const ended = await endedPaths(database);
  const garbage: string[] = [];
  const unknown: string[] = [];
  for (const { isYoung, path } of await place.list()) {
    if (named.has(path) || isHeadFile(path)) continue;
    if (ended.has(path) || (await isOwn(path, files, ownership))) garbage.push(path);
    else if (!isYoung) unknown.push(path);
  }
  // Of one that its place has lost already there may be a copy still.
  const unlisted = [...ended].filter((path) => !named.has(path));
  await files.remove([...new Set([...unlisted, ...garbage])]);
  await files.settle(garbage);
  await forgetEnded(database, [...ended]);
  await place.endAside(clock());
  const aside = unknown.length === 0 ? '' : await place.putAside(unknown, clock());
  return { removed: garbage.length, aside: unknown.length, folder: aside };
}

/** Written by one of the last runs on this very catalog, which has all that these committed. */
async function isOwn(
  path: string,
  files: Pick<Files, 'borrow'>,
  { lake, proved, runs }: Ownership,
): Promise<boolean> {
  if (!proved) return false;
  const lent = await files.borrow(path);
  const stamp = await readStamp(lent.path).finally(() => lent.release());
  return stamp?.lake === lake && runs.includes(stamp.run);
}

/**
 * Without a server, and for a catalog that is to go on whatever its files say: all that it does not name
 * is put aside, and the files' own note goes with it.
 * @returns the folder where they are
 */
export async function putUnnamedAside(
  catalog: CatalogPlace,
  place: LakePlace,
  nowMs: number,
): Promise<string> {
  const named = (await catalog.isThere()) ? await namedIn(catalog) : new Set<string>();
  const all = (await place.list()).map(({ path }) => path);
  return place.putAside(
    all.filter((path) => !named.has(path)),
    nowMs,
  );
}

const namedIn = (catalog: CatalogPlace): Promise<ReadonlySet<string>> =>
  closing(catalog.open(), async (database) =>
    (await catalogHead(database)) === undefined ? new Set<string>() : namedPaths(database),
  );

/** Paths of every data and delete file of every version, relative to the lake's root. */
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
