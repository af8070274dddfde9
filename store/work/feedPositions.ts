// Stores the read position of followed sources, so that a restart continues there.
import type { Database } from '../catalog/database.ts';
import type { FeedPositionTable } from '../catalog/tables/sources.ts';

/** Returns the id of the last stored message; undefined when there is none of this origin. */
export async function findFeedPosition(
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
