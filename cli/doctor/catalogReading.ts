// Opens a catalog for reading, without changing its folder. While its server runs it is read in place, as
// any second process may; without a server, from a copy: opening it would create files beside it.
import { constants, copyFileSync, existsSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CatalogPlace } from '../../store/catalog/catalogPlace.ts';
import { withDatabase, type Database } from '../../store/catalog/database.ts';
import { openReadOnly } from '../../store/sqlite/sqliteDatabase.ts';
import type { Finding } from './finding.ts';

/** Largest catalog that is copied. */
export const COPY_BYTES_MAX = 1024 ** 3;

/** @returns undefined, without running `work`, if the catalog is too large to be copied */
export async function withCatalog<T>(
  data: string,
  isServed: boolean,
  work: (database: Database) => Promise<T>,
): Promise<T | undefined> {
  const path = join(data, 'catalog.db');
  if (isServed) return withOpen(path, work);
  const parts = [path, `${path}-wal`].filter((part) => existsSync(part));
  if (parts.reduce((sum, part) => sum + statSync(part).size, 0) > COPY_BYTES_MAX) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-doctor-'));
  try {
    for (const part of parts) {
      copyFileSync(
        part,
        join(folder, `catalog.db${part.slice(path.length)}`),
        constants.COPYFILE_FICLONE,
      );
    }
    return await withOpen(join(folder, 'catalog.db'), work);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads a catalog in a database; no findings if it does not exist, which another check reports. */
export async function withNamedCatalog(
  place: CatalogPlace,
  work: (database: Database) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  return (await place.exists()) ? withDatabase(place.openReadOnly(), work) : [];
}

const withOpen = <T>(path: string, work: (database: Database) => Promise<T>): Promise<T> =>
  withDatabase(openReadOnly(path), work);
