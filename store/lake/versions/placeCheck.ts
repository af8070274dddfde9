// Are the files of this catalog where the settings say they are? A folder whose files were copied elsewhere
// goes on there once all of them have arrived.
import { Failure } from '../../base/failure.ts';
import type { Database } from '../../catalog/database.ts';
import type { LakePlace, SizedFile } from '../../files/lakePlace.ts';
import { tableFolders } from './lakeRead.ts';

const PLACE = 'place';
/** The folder of the catalog, wherever that is moved to. */
const HERE = '';

/**
 * Keeps where the files are; when that is another place than before, only where it has all of them.
 * @param bucket the name of a bucket; undefined for the folder of the catalog
 * @throws Failure Conflict telling what is missing there.
 */
export async function settlePlace(
  database: Database,
  place: LakePlace,
  bucket: string | undefined,
): Promise<void> {
  const now = bucket ?? HERE;
  const row = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', PLACE)
    .executeTakeFirst();
  const before = row?.value ?? HERE;
  if (before === now) return;
  const named = await namedFiles(database);
  const missing = await place.missing(named);
  if (missing.length > 0) {
    const were = before === HERE ? 'the data folder' : before;
    const told =
      `${missing.length} of ${named.length} files of the catalog are not in ${place.name}, such as ` +
      `${missing[0]}; they were in ${were}. Nothing was changed: copy them there with their paths, or ` +
      `set TAPEDECK_DATA as before`;
    throw new Failure('Conflict', told);
  }
  await database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('folder').where('key', '=', PLACE).execute();
    await transaction.insertInto('folder').values({ key: PLACE, value: now }).execute();
  });
}

/** Data and delete files of every version. */
async function namedFiles(database: Database): Promise<readonly SizedFile[]> {
  const folders = await tableFolders(database);
  const rows = await database
    .selectFrom('ducklake_data_file')
    .select(['table_id', 'path', 'file_size_bytes as bytes'])
    .unionAll((more) =>
      more
        .selectFrom('ducklake_delete_file')
        .select(['table_id', 'path', 'file_size_bytes as bytes']),
    )
    .execute();
  return rows.map(({ bytes, path, table_id }) => {
    return { path: `${folders.get(table_id)}${path}`, bytes };
  });
}
