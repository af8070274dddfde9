// What was deleted leaves the file of SQLite too: it keeps deleted rows in free pages, in the gaps of others
// and in its log until they are written over.
import { sql } from 'kysely';
import type { Database } from '../catalog/database.ts';

/** Every page is written anew (0.6 s for 70 MB), moved out of the log, and the log emptied. */
export async function scrubSqlite(database: Database): Promise<boolean> {
  await sql`VACUUM`.execute(database);
  return emptyLog(database);
}

/** Does not wait for readers, such as a backup: nothing else would run meanwhile. */
async function emptyLog(database: Database): Promise<boolean> {
  return database.connection().execute(async (connection) => {
    const { rows } = await sql<{ timeout: number }>`PRAGMA busy_timeout`.execute(connection);
    await sql`PRAGMA busy_timeout = 0`.execute(connection);
    try {
      const checkpoint = sql<{ busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`;
      return (await checkpoint.execute(connection)).rows[0]?.busy === 0;
    } finally {
      await sql.raw(`PRAGMA busy_timeout = ${rows[0]?.timeout ?? 0}`).execute(connection);
    }
  });
}
