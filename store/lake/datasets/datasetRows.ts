// Rows of workspaces and datasets: they are written here alone, so that a commit knows which of them it
// changed, and memory reads no others again.
import type { Insertable, Updateable } from 'kysely';
import type { Database, Tables } from '../../catalog/database.ts';
import { refuseView } from './takenNames.ts';

/** What the transaction of a commit wrote. */
export interface Touched {
  /** Ids of the tables. */
  readonly datasets: ReadonlySet<number>;
  /** Names. */
  readonly workspaces: ReadonlySet<string>;
}

interface Writing extends Touched {
  readonly datasets: Set<number>;
  readonly workspaces: Set<string>;
}

const byTransaction = new WeakMap<Database, Writing>();

function writing(transaction: Database): Writing {
  const known = byTransaction.get(transaction) ?? { datasets: new Set(), workspaces: new Set() };
  byTransaction.set(transaction, known);
  return known;
}

export const touchedIn = (transaction: Database): Touched => writing(transaction);

export async function insertWorkspaceRow(
  transaction: Database,
  row: Insertable<Tables['workspace']>,
): Promise<void> {
  writing(transaction).workspaces.add(row.workspace);
  await transaction.insertInto('workspace').values(row).execute();
}

/** @throws Failure Conflict when the workspace has a view of that name, in any case. */
export async function insertDatasetRow(
  transaction: Database,
  row: Insertable<Tables['dataset']>,
): Promise<void> {
  await refuseView(transaction, row.workspace, row.dataset);
  writing(transaction).datasets.add(row.table_id);
  await transaction.insertInto('dataset').values(row).execute();
}

export async function changeDatasetRow(
  transaction: Database,
  tableId: number,
  changes: Updateable<Tables['dataset']>,
): Promise<void> {
  writing(transaction).datasets.add(tableId);
  await transaction.updateTable('dataset').set(changes).where('table_id', '=', tableId).execute();
}

export async function deleteDatasetRow(transaction: Database, tableId: number): Promise<void> {
  writing(transaction).datasets.add(tableId);
  await transaction.deleteFrom('dataset').where('table_id', '=', tableId).execute();
}
