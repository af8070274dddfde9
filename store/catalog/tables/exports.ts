// Exports, and how far they are.
import type { Kysely } from 'kysely';
import { createTable } from './createTable.ts';

export type ExportState = 'CREATED' | 'RUNNING' | 'DONE' | 'ERROR' | 'CANCELLED';

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
