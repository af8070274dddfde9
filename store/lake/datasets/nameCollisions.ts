// Prevents name collisions: views and datasets of a workspace share one namespace, ignoring case. Checks run
// in the transaction that assigns a name, because memory may be about to change.
import { sql } from 'kysely';
import { Failure } from '../../base/failure.ts';
import type { Database } from '../../catalog/database.ts';

/** @throws Failure Conflict when the workspace has a view of that name, ignoring case. */
export async function refuseView(
  transaction: Database,
  workspace: string,
  name: string,
): Promise<void> {
  const view = await transaction
    .selectFrom('named_query')
    .select('name')
    .where('kind', '=', 'view')
    .where('workspace', '=', workspace)
    .where(sql`upper(name)`, '=', name.toUpperCase())
    .executeTakeFirst();
  if (view !== undefined) throw nameCollision('view', workspace, name);
}

/** @throws Failure Conflict when the workspace has a dataset of that name, ignoring case. */
export async function refuseDataset(
  transaction: Database,
  workspace: string,
  name: string,
): Promise<void> {
  const dataset = await transaction
    .selectFrom('dataset')
    .select('table_id')
    .where('workspace', '=', workspace)
    .where(sql`upper(dataset)`, '=', name.toUpperCase())
    .executeTakeFirst();
  if (dataset !== undefined) throw nameCollision('dataset', workspace, name);
}

export const nameCollision = (kind: 'view' | 'dataset', workspace: string, name: string): Failure =>
  new Failure('Conflict', `${workspace} has a ${kind} of the name ${name} already`);
