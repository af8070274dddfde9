// How far sources are read that are followed: kept, so that a start goes on where the server ended.
import type { Database } from '../catalog/database.ts';
import type { FeedPositionTable } from '../catalog/tables/sources.ts';

/** Id of the last message that is stored; undefined where there is none of this origin. */
export async function feedPosition(
  database: Database,
  { origin, source_id }: Omit<FeedPositionTable, 'last_id'>,
): Promise<string | undefined> {
  const row = await database
    .selectFrom('feed_position')
    .select('last_id')
    .where('source_id', '=', source_id)
    .where('origin', '=', origin)
    .executeTakeFirst();
  return row?.last_id;
}

export async function saveFeedPosition(database: Database, row: FeedPositionTable): Promise<void> {
  const { last_id, origin } = row;
  await database
    .insertInto('feed_position')
    .values(row)
    .onConflict((conflict) => conflict.column('source_id').doUpdateSet({ last_id, origin }))
    .execute();
}
