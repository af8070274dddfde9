// Exports and their progress; published files, and the single-use download links.
import type { Kysely } from 'kysely';
import { createTable } from './createTable.ts';

export type ExportState = 'CREATED' | 'RUNNING' | 'DONE' | 'ERROR' | 'CANCELLED';

export interface ExportTable {
  readonly export_id: string;
  readonly account_id: string;
  readonly workspace: string;
  /** JSON: the data, the format and the target. */
  readonly order_json: string;
  /** The version of the lake from which all parts are exported. */
  readonly snapshot_id: number;
  readonly state: ExportState;
  /** 0 to 100. */
  readonly progress: number;
  /** Starts since the last finished part: more than one if the server stopped in between. */
  readonly attempts: number;
  /** JSON: the parts that were delivered to the target, in their order. */
  readonly parts_json: string;
  /** JSON: the finished part that is not delivered yet; null: none. */
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

export interface FileTypeTable {
  readonly type_id: string;
  readonly workspace: string;
  readonly name: string;
  /** JSON: a `FileType` without the members that have their own columns. */
  readonly body_json: string;
  /** Started downloads. */
  readonly downloads: number;
  readonly created_ms: number;
  readonly updated_ms: number;
}

export interface PublicationTable {
  /** Also the name of its file in the folder of published files. */
  readonly publication_id: string;
  readonly type_id: string;
  readonly workspace: string;
  /** Empty if the type is not by symbol. */
  readonly symbol: string;
  /** `YYYYMMDD`; empty if the type is not by date. */
  readonly date: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  /** Null while its file is being stored; a start removes rows that a crash left so. */
  readonly committed_ms: number | null;
  /** When it was replaced or withdrawn; its file is kept for the lifetime of a download link. */
  readonly ended_ms: number | null;
}

export interface DownloadLinkTable {
  /** SHA-256 of the link's secret, hex. */
  readonly link_hash: string;
  readonly publication_id: string;
  readonly type_id: string;
  readonly account_id: string;
  readonly expires_ms: number;
  /** When it was used; null: not yet. */
  readonly claimed_ms: number | null;
}

export async function addPublications(database: Kysely<unknown>): Promise<void> {
  await createTable(
    database,
    'file_type',
    'type_id! text, workspace text, name text, body_json text, downloads bigint, ' +
      'created_ms bigint, updated_ms bigint',
  );
  await createTable(
    database,
    'publication',
    'publication_id! text, type_id text, workspace text, symbol text, date text, bytes bigint, ' +
      'sha256 text, committed_ms bigint, ended_ms bigint',
  );
  await createTable(
    database,
    'download_link',
    'link_hash! text, publication_id text, type_id text, account_id text, expires_ms bigint, ' +
      'claimed_ms bigint',
  );
  const indexes = [
    ['file_type_by_workspace', 'file_type', ['workspace', 'name']],
    ['publication_by_type', 'publication', ['type_id', 'symbol', 'date']],
    ['publication_by_workspace', 'publication', ['workspace']],
    ['publication_by_end', 'publication', ['ended_ms']],
    ['download_link_by_end', 'download_link', ['expires_ms']],
    ['download_link_by_account', 'download_link', ['account_id', 'expires_ms']],
  ] as const;
  for (const [name, table, columns] of indexes) {
    const index = database.schema.createIndex(name).on(table);
    await index.columns([...columns]).execute();
  }
}
