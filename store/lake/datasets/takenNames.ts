// Views and datasets of a workspace share their names, in any case. Looked at in the transaction that gives
// one: what is in memory may be about to change.
import { sql } from 'kysely';
import { Failure } from '../../base/failure.ts';
import type { Database } from '../../catalog/database.ts';

/** @throws Failure Conflict when the workspace has a view of that name, in any case. */
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
  if (view !== undefined) throw takenBy('view', workspace, name);
}

/** @throws Failure Conflict when the workspace has a dataset of that name, in any case. */
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
  if (dataset !== undefined) throw takenBy('dataset', workspace, name);
}

export const takenBy = (kind: 'view' | 'dataset', workspace: string, name: string): Failure =>
  new Failure('Conflict', `${workspace} has a ${kind} of the name ${name} already`);
