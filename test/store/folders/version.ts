// The version of the catalog that a running server writes.
import type { TestServer } from '../../base/server.ts';

export async function folderVersion({ tapedeck }: TestServer): Promise<number> {
  const row = await tapedeck.services.database
    .selectFrom('folder')
    .select('value')
    .where('key', '=', 'version')
    .executeTakeFirstOrThrow();
  return Number(row.value);
}
