// Exports: what is to be written out of which version, how far it is, and how it ended.
import type { Insertable, Kysely, Selectable, Updateable } from 'kysely';
import type { Database } from './database.ts';
import { createTable } from './lakeTables.ts';
import { randomHex } from './random.ts';

type ExportState = 'CREATED' | 'RUNNING' | 'DONE' | 'ERROR' | 'CANCELLED';

export interface ExportTable {
  readonly export_id: string;
  readonly account_id: string;
  readonly workspace: string;
  /** JSON: what, in which format, and whereto. */
  readonly order_json: string;
  /** The one version of the lake that every part is of. */
  readonly snapshot_id: number;
  readonly state: ExportState;
  /** 0 to 100. */
  readonly progress: number;
  /** Starts since a part was finished: more than one when the server ended meanwhile. */
  readonly attempts: number;
  /** JSON: the parts that are at the target, in their order. */
  readonly parts_json: string;
  /** JSON: the part that is made and not yet at the target; null: none. */
  readonly made_json: string | null;
  readonly rows: number;
  readonly bytes: number;
  readonly error: string | null;
  readonly created_ms: number;
  readonly started_ms: number | null;
  readonly finished_ms: number | null;
}

export async function addExports(database: Kysely<unknown>): Promise<void> {
  const columns =
    'export_id! text, account_id text, workspace text, order_json text, snapshot_id bigint, ' +
    'state text, progress bigint, attempts bigint, parts_json text, made_json text, ' +
    'rows bigint, bytes bigint, error text, created_ms bigint, started_ms bigint, ' +
    'finished_ms bigint';
  await createTable(database, 'export', columns);
  const byWorkspace = database.schema.createIndex('export_by_workspace').on('export');
  await byWorkspace.columns(['workspace', 'created_ms']).execute();
  await database.schema.createIndex('export_by_state').on('export').column('state').execute();
}

export type ExportRow = Selectable<ExportTable>;

/** Exports of one workspace that are kept; the oldest that have ended go first. */
const KEPT_MAX = 1_000;
const UNFINISHED: readonly ExportState[] = ['CREATED', 'RUNNING'];

export const newExportId = (): string => `EXPORT_${randomHex(16)}`;

/** Keeps a new export, and lets old ones of the workspace go. */
export async function insertExport(
  database: Database,
  row: Insertable<ExportTable>,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction.insertInto('export').values(row).execute();
    const old = await transaction
      .selectFrom('export')
      .select('export_id')
      .where('workspace', '=', row.workspace)
      .where('state', 'not in', [...UNFINISHED])
      .orderBy('created_ms', 'desc')
      .orderBy('export_id', 'desc')
      .limit(KEPT_MAX)
      .offset(KEPT_MAX)
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

/** Oldest first. */
export const listExports = (database: Database, workspace: string): Promise<readonly ExportRow[]> =>
  database
    .selectFrom('export')
    .selectAll()
    .where('workspace', '=', workspace)
    .orderBy('created_ms')
    .orderBy('export_id')
    .execute();

/** Of every workspace, oldest first. */
export const unfinishedExports = (database: Database): Promise<readonly ExportRow[]> =>
  database
    .selectFrom('export')
    .selectAll()
    .where('state', 'in', [...UNFINISHED])
    .orderBy('created_ms')
    .orderBy('export_id')
    .execute();
