// Limits the entries of a workspace: counts and inserts in one transaction, so that concurrent inserts don't
// pass the limit together.
import type { Database } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';

type LimitedTable = 'credential' | 'data_source' | 'schedule' | 'webhook';

const NAMES: Readonly<Record<LimitedTable, string>> = {
  credential: 'credentials',
  data_source: 'data sources',
  schedule: 'schedules',
  webhook: 'webhooks',
};

/** @throws Failure LimitReached when the workspace has `most` entries already. */
export function insertLimited(
  database: Database,
  table: LimitedTable,
  { most, workspace }: { readonly most: number; readonly workspace: string },
  insert: (transaction: Database) => Promise<unknown>,
): Promise<void> {
  return database.transaction().execute(async (transaction) => {
    const row = await transaction
      .selectFrom(table)
      .select((select) => select.fn.countAll<number>().as('held'))
      .where('workspace', '=', workspace)
      .executeTakeFirst();
    if (Number(row?.held ?? 0) >= most) {
      const rule = `the workspace holds ${most} ${NAMES[table]}, the most there may be`;
      throw new Failure('LimitReached', rule);
    }
    await insert(transaction);
  });
}
