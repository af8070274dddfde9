// Writes rows of workspaces and datasets, as the only module that does. So a commit knows the changed rows,
// and memory reloads only those.
import type { Insertable, Updateable } from 'kysely';
import type { Database, Tables } from '../../catalog/database.ts';
import { refuseView } from './nameCollisions.ts';

/** Rows written by the transaction of a commit. */
export interface ChangedRows {
  /** Ids of the tables. */
  readonly datasets: ReadonlySet<number>;
  /** Names. */
  readonly workspaces: ReadonlySet<string>;
}

interface MutableChangedRows extends ChangedRows {
  readonly datasets: Set<number>;
  readonly workspaces: Set<string>;
}

const byTransaction = new WeakMap<Database, MutableChangedRows>();

function trackChanges(transaction: Database): MutableChangedRows {
  const changes = byTransaction.get(transaction) ?? { datasets: new Set(), workspaces: new Set() };
  byTransaction.set(transaction, changes);
  return changes;
}

export const listChangedRows = (transaction: Database): ChangedRows => trackChanges(transaction);

export async function insertWorkspaceRow(
  transaction: Database,
  row: Insertable<Tables['workspace']>,
): Promise<void> {
  trackChanges(transaction).workspaces.add(row.workspace);
  await transaction.insertInto('workspace').values(row).execute();
}

/** @throws Failure Conflict when the workspace has a view of that name, ignoring case. */
export async function insertDatasetRow(
  transaction: Database,
  row: Insertable<Tables['dataset']>,
): Promise<void> {
  await refuseView(transaction, row.workspace, row.dataset);
  trackChanges(transaction).datasets.add(row.table_id);
  await transaction.insertInto('dataset').values(row).execute();
}

export async function updateDatasetRow(
  transaction: Database,
  tableId: number,
  changes: Updateable<Tables['dataset']>,
): Promise<void> {
  trackChanges(transaction).datasets.add(tableId);
  await transaction.updateTable('dataset').set(changes).where('table_id', '=', tableId).execute();
}

export async function deleteDatasetRow(transaction: Database, tableId: number): Promise<void> {
  trackChanges(transaction).datasets.add(tableId);
  await transaction.deleteFrom('dataset').where('table_id', '=', tableId).execute();
}
