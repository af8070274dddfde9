// The catalogs of test servers: in their data folders, or, for the store's contract over
// PostgreSQL, each in a schema of its own there.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { parseDatabaseSettings } from '../../store/base/settings/databaseSettings.ts';
import type { Database } from '../../store/catalog/database.ts';
import { openDatabase } from '../../store/sqlite/sqliteDatabase.ts';
import { type LakeCatalog, openPostgresCatalog, openSqliteCatalog } from '../store/lake/reader.ts';
import { postgresPlace } from '../../store/postgres/postgresPlace.ts';

/** The variable with the URL of PostgreSQL; empty or undefined for catalogs in the data folders. */
export const CATALOGS = 'TAPEDECK_TEST_CATALOGS';

const server = (): string => process.env[CATALOGS] ?? '';

export const isElsewhere = (): boolean => server() !== '';

const schemaOf = (name: string): string =>
  `t_${createHash('sha256').update(name).digest('hex').slice(0, 20)}`;

const urlFor = (name: string): string => `${server()}?schema=${schemaOf(name)}`;

/** Opens the catalog of a server's folder like a foreign reader. */
export const foreignCatalog = (folder: string): Promise<LakeCatalog> =>
  server() === ''
    ? openSqliteCatalog(join(folder, 'catalog.db'))
    : openPostgresCatalog(server(), schemaOf(folder));

/** Settings of a server on a folder. */
export const catalogElsewhere = (folder: string): Readonly<Record<string, string>> =>
  server() === '' ? {} : { TAPEDECK_DATABASE: urlFor(folder) };

/** A new catalog, without a folder. */
export function newCatalog(): Database {
  if (server() === '') return openDatabase(':memory:');
  const settings = parseDatabaseSettings(urlFor(randomUUID()));
  assert.ok(settings);
  return postgresPlace(settings).open();
}
