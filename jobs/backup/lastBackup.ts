// Time and target of the last backup, for operators.
import type { Database } from '../../store/catalog/database.ts';

interface LastBackup {
  readonly made: number;
  readonly target: string;
}

const KEY = 'last-backup';

/** Null where this folder was never backed up. */
export async function lastBackup(database: Database): Promise<LastBackup | null> {
  const row = await database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', KEY)
    .executeTakeFirst();
  return row === undefined ? null : (JSON.parse(row.value) as LastBackup);
}

export async function saveLastBackup(database: Database, backup: LastBackup): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('folder').where('key', '=', KEY).execute();
    const row = { key: KEY, value: JSON.stringify(backup) };
    await transaction.insertInto('folder').values(row).execute();
  });
}
