// Places the catalog in a SQLite file of the data folder.
import { statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { sql } from 'kysely';
import { momentName } from '../base/clock.ts';
import type { CatalogPlace } from '../catalog/catalogPlace.ts';
import { type CatalogRow, PAGE_ROWS, type PageReader } from '../catalog/copyCatalog.ts';
import type { Folder } from '../catalog/folder.ts';
import { toOneFile } from './connection.ts';
import { scrubSqlite } from './scrubSqlite.ts';
import { openDatabase, openSnapshotDatabase, openReadOnly, openServed } from './sqliteDatabase.ts';
import type { ThreadPool } from './writer.ts';

export const sqlitePlace = (
  { catalog }: Pick<Folder, 'catalog'>,
  threads?: ThreadPool,
): CatalogPlace => ({
  name: catalog,
  advice: 'Put the right catalog.db back (with its -wal, when there is one)',
  exists: async () => (statSync(catalog, { throwIfNoEntry: false })?.size ?? 0) > 0,
  open: () => openDatabase(catalog),
  openForServer: () => openServed(catalog, threads),
  openReadOnly: () => openReadOnly(catalog),
  readPages: sqlitePages,
  setAside: async (database, nowMs) => {
    await database.destroy();
    toOneFile(catalog);
    const aside = `${catalog}.moved-${momentName(nowMs)}`;
    await rename(catalog, aside);
    return aside;
  },
  discard: async () => {
    for (const part of ['', '-wal', '-shm']) await rm(`${catalog}${part}`, { force: true });
  },
  openSnapshot: async () => openSnapshotDatabase(catalog),
  scrub: scrubSqlite,
});

/** Pages through a table by row id. */
export const sqlitePages: PageReader = async function* (database, table) {
  for (let after = 0; ;) {
    const { rows } = await sql<CatalogRow & { readonly place: number }>`
      select rowid as place, * from ${sql.table(table)} where rowid > ${after}
      order by rowid limit ${PAGE_ROWS}`.execute(database);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(({ place: _, ...row }) => row);
    after = last.place;
  }
};
