// What a workspace may hold so many of: counted and made in one transaction, so that several at once
// do not pass the limit together.
import type { Database } from '../catalog/database.ts';
import { Failure } from '../base/failure.ts';

type Held = 'credential' | 'data_source' | 'schedule' | 'webhook';

const NAMES: Readonly<Record<Held, string>> = {
  credential: 'credentials',
  data_source: 'data sources',
  schedule: 'schedules',
  webhook: 'webhooks',
};

/** @throws Failure LimitReached when the workspace holds `most` already. */
export function insertHeld(
  database: Database,
  table: Held,
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
      const told = `the workspace holds ${most} ${NAMES[table]}, the most there may be`;
      throw new Failure('LimitReached', told);
    }
    await insert(transaction);
  });
}
