// Remembers files that were loaded into a dataset without a unique index, by their hash: a repeated file is
// recognised and stored once. The entries are removed when the dataset is overwritten; after a deletion or a
// schema change, the records of a file are compared with the stored ones.
import type { Insertable, Selectable } from 'kysely';
import type { Database, Tables } from '../../catalog/database.ts';

export type LoadedFile = Selectable<Tables['loaded_file']>;

/** Limit of remembered files of one dataset; the latest are kept. */
const LOADED_FILES_MAX = 10_000;

/** Whether a file of this size was loaded; only then its hash is needed. */
export async function hasLoadedSize(
  database: Database,
  tableId: number,
  bytes: number,
): Promise<boolean> {
  const row = await database
    .selectFrom('loaded_file')
    .select('digest')
    .where('table_id', '=', tableId)
    .where('bytes', '=', bytes)
    .executeTakeFirst();
  return row !== undefined;
}

export const findLoadedFile = (
  database: Database,
  tableId: number,
  digest: string,
): Promise<LoadedFile | undefined> =>
  database
    .selectFrom('loaded_file')
    .selectAll()
    .where('table_id', '=', tableId)
    .where('digest', '=', digest)
    .executeTakeFirst();

/** Records a file in the transaction that stores its records. */
export async function insertLoadedFile(
  transaction: Database,
  file: Insertable<Tables['loaded_file']>,
): Promise<void> {
  await transaction
    .insertInto('loaded_file')
    .values(file)
    .onConflict((conflict) => conflict.columns(['table_id', 'digest']).doUpdateSet(file))
    .execute();
  const oldest = await transaction
    .selectFrom('loaded_file')
    .select('time_ms')
    .where('table_id', '=', file.table_id)
    .orderBy('time_ms', 'desc')
    .offset(LOADED_FILES_MAX)
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await transaction
    .deleteFrom('loaded_file')
    .where('table_id', '=', file.table_id)
    .where('time_ms', '<=', oldest.time_ms)
    .execute();
}

/** Marks files as partial in a transaction that deletes records of the table, or changes its schema. */
export async function markPartial(transaction: Database, tableId: number): Promise<void> {
  await transaction
    .updateTable('loaded_file')
    .set({ is_partial: true })
    .where('table_id', '=', tableId)
    .execute();
}

/** Removes the entries in a transaction that overwrites the table. */
export async function removeLoadedFiles(transaction: Database, tableId: number): Promise<void> {
  await transaction.deleteFrom('loaded_file').where('table_id', '=', tableId).execute();
}
