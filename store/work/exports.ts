// Stores exports: source version, progress and outcome.
import type { Insertable, Selectable, Updateable } from 'kysely';
import type { TransactionStep, Database } from '../catalog/database.ts';
import { randomHex } from '../base/random.ts';
import type { ExportTable, ExportState } from '../catalog/tables/exports.ts';

export type ExportRow = Selectable<ExportTable>;

/** Limit of stored exports of one workspace; the oldest finished ones are removed first. */
const EXPORTS_MAX = 1_000;
const UNFINISHED: readonly ExportState[] = ['CREATED', 'RUNNING'];

export const newExportId = (): string => `EXPORT_${randomHex(16)}`;

/**
 * Stores a new export and removes old ones of the workspace.
 * @param alongside runs in the same transaction
 */
export async function insertExport(
  database: Database,
  row: Insertable<ExportTable>,
  alongside?: TransactionStep,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction.insertInto('export').values(row).execute();
    await alongside?.(transaction, row.export_id);
    const old = await transaction
      .selectFrom('export')
      .select('export_id')
      .where('workspace', '=', row.workspace)
      .where('state', 'not in', [...UNFINISHED])
      .orderBy('created_ms', 'desc')
      .orderBy('export_id', 'desc')
      .limit(EXPORTS_MAX)
      .offset(EXPORTS_MAX)
      .execute();
    if (old.length === 0) return;
    const ids = old.map(({ export_id }) => export_id);
    await transaction.deleteFrom('export').where('export_id', 'in', ids).execute();
  });
}

export async function updateExport(
  database: Database,
  exportId: string,
  values: Updateable<ExportTable>,
): Promise<void> {
  await database.updateTable('export').set(values).where('export_id', '=', exportId).execute();
}

export const findExport = (database: Database, exportId: string): Promise<ExportRow | undefined> =>
  database.selectFrom('export').selectAll().where('export_id', '=', exportId).executeTakeFirst();

/** Lists exports of a workspace, oldest first. */
export const listExports = (database: Database, workspace: string): Promise<readonly ExportRow[]> =>
  database
    .selectFrom('export')
    .selectAll()
    .where('workspace', '=', workspace)
    .orderBy('created_ms')
    .orderBy('export_id')
    .execute();

/** Lists unfinished exports of every workspace, oldest first. */
export const listUnfinishedExports = (database: Database): Promise<readonly ExportRow[]> =>
  database
    .selectFrom('export')
    .selectAll()
    .where('state', 'in', [...UNFINISHED])
    .orderBy('created_ms')
    .orderBy('export_id')
    .execute();
