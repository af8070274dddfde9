// Checks that the files of this catalog are where the settings specify. A lake whose files were copied to
// another place continues there once all of them have arrived.
import { Failure } from '../../base/failure.ts';
import type { Database } from '../../catalog/database.ts';
import type { LakePlace, SizedFile } from '../../files/lakePlace.ts';
import { tableFolders } from './lakeRead.ts';

const PLACE_KEY = 'place';
/** Value for the folder of the catalog, which may be moved. */
const DATA_FOLDER = '';

/**
 * Stores the place of the files; a changed place is accepted only if it has all of them.
 * @param bucket name of a bucket; undefined for the folder of the catalog
 * @throws Failure Conflict listing missing files.
 */
export async function verifyPlace(
  database: Database,
  place: LakePlace,
  bucket: string | undefined,
): Promise<void> {
  const current = bucket ?? DATA_FOLDER;
  const row = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', PLACE_KEY)
    .executeTakeFirst();
  const previous = row?.value ?? DATA_FOLDER;
  if (previous === current) return;
  const files = await listFiles(database);
  const missing = await place.missing(files);
  if (missing.length > 0) {
    const previousName = previous === DATA_FOLDER ? 'the data folder' : previous;
    const message =
      `${missing.length} of ${files.length} files of the catalog are not in ${place.name}, such as ` +
      `${missing[0]}; they were in ${previousName}. Nothing was changed: copy them there with their paths, ` +
      `or set TAPEDECK_DATA as before`;
    throw new Failure('Conflict', message);
  }
  await database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('folder').where('key', '=', PLACE_KEY).execute();
    await transaction.insertInto('folder').values({ key: PLACE_KEY, value: current }).execute();
  });
}

/** Data and delete files of every version. */
async function listFiles(database: Database): Promise<readonly SizedFile[]> {
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
