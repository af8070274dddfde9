// Creates the first version of a lake, which is empty.
import { formatCatalogTime } from '../catalog/catalogTime.ts';
import type { Database } from '../catalog/database.ts';
import type { LakeClock } from '../catalog/lakeClock.ts';
import { newUuid } from '../base/random.ts';

/** Creates the first snapshot of a new catalog, with the empty schema `main`. */
export async function createFirstSnapshot(database: Database, clock: LakeClock): Promise<void> {
  const existing = await database
    .selectFrom('ducklake_snapshot')
    .select('snapshot_id')
    .limit(1)
    .executeTakeFirst();
  if (existing !== undefined) return;
  await database.transaction().execute(async (transaction) => {
    const catalog = { schema_version: 0, next_catalog_id: 1, next_file_id: 0 };
    const snapshot = { snapshot_id: 0, snapshot_time: formatCatalogTime(clock.next()), ...catalog };
    await transaction.insertInto('ducklake_snapshot').values(snapshot).execute();
    const note = { author: 'tapedeck', commit_message: 'first', commit_extra_info: null };
    const changes = { snapshot_id: 0, changes_made: 'created_schema:"main"', ...note };
    await transaction.insertInto('ducklake_snapshot_changes').values(changes).execute();
    const lifetime = { begin_snapshot: 0, end_snapshot: null };
    const location = { schema_name: 'main', path: 'main/', path_is_relative: true };
    const schema = { schema_id: 0, schema_uuid: newUuid(), ...lifetime, ...location };
    await transaction.insertInto('ducklake_schema').values(schema).execute();
    for (const [key, value] of Object.entries(METADATA)) {
      const row = { key, value, scope: null, scope_id: null };
      await transaction.insertInto('ducklake_metadata').values(row).execute();
    }
  });
}

/** `data_path` is relative to the folder of the catalog, so that a data folder can move. */
const METADATA = { version: '1.0', created_by: 'Tapedeck', data_path: 'lake/', encrypted: 'false' };
