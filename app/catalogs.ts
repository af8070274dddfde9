// Where the catalog is: in the data folder, or in the PostgreSQL that the settings name.
import { Failure } from '../store/base/failure.ts';
import type { Settings } from '../store/base/settings.ts';
import type { CatalogPlace } from '../store/catalog/catalogPlace.ts';
import { sqlitePlace } from '../store/sqlite/sqlitePlace.ts';
import type { Threads } from '../store/sqlite/writer.ts';
import type { Folder } from '../store/catalog/folder.ts';

export async function catalogOf(
  database: Settings['database'],
  folder: Pick<Folder, 'catalog'>,
  threads?: Threads,
): Promise<CatalogPlace> {
  if (database === undefined) return sqlitePlace(folder, threads);
  const { postgresPlace } = await import('../store/postgres/postgresPlace.ts');
  return postgresPlace(database);
}

/** @throws Failure Conflict where the data folder has a catalog, and the settings name another place */
export async function refuseTwoCatalogs(
  database: Settings['database'],
  folder: Folder,
  named: CatalogPlace,
): Promise<void> {
  const own = sqlitePlace(folder);
  if (database === undefined || !(await own.isThere())) return;
  const how = (await named.isThere())
    ? `${named.name} is there as well: take away the one that is not to be served`
    : '`tapedeck move` takes it to TAPEDECK_DATABASE';
  throw new Failure('Conflict', `the data folder has a catalog of its own, ${own.name}: ${how}`);
}
