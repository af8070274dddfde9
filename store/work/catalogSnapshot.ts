// Opens a snapshot of the catalog in a read transaction while writers go on: the files that it names, and an
// exact copy of that state.
import { sql } from 'kysely';
import type { CatalogPlace } from '../catalog/catalogPlace.ts';
import type { Database } from '../catalog/database.ts';
import { readCatalogHead } from '../files/catalogCheck.ts';
import { UNFINISHED } from './jobs.ts';

export interface NamedFile {
  /** Relative to the lake's root, or to the folder of published files. */
  readonly path: string;
  readonly bytes: number;
  /** Hex; undefined for a file from before hashes were stored. */
  readonly sha256: string | undefined;
}

export interface CatalogSnapshot {
  /** Id of this lake, created with it and never changed. */
  readonly lakeId: string;
  /** Id of the latest snapshot. */
  readonly snapshot: number;
  /** Data and delete files of every snapshot. */
  readonly files: readonly NamedFile[];
  /** Published files that have not ended, by their names. */
  readonly published: readonly NamedFile[];
  /** Names of spooled bodies whose job has not ended. */
  readonly bodies: readonly string[];
  /** Copies the state to a SQLite file: completely or not at all; not synced. */
  copyTo(path: string): Promise<void>;
  /** Closes the snapshot; may be called repeatedly. */
  close(): Promise<void>;
}

/**
 * Opens the snapshot. The caller holds the catalog's turn, so that the named files can be pinned before a
 * commit removes any of them.
 */
export async function openCatalogSnapshot(
  place: Pick<CatalogPlace, 'openSnapshot'>,
): Promise<CatalogSnapshot> {
  const snapshot = await place.openSnapshot();
  const { database } = snapshot;
  try {
    const head = await readCatalogHead(database);
    return {
      lakeId: head?.lake ?? '',
      snapshot: head?.snapshot ?? 0,
      files: await listFiles(database, LAKE_FILES_SQL),
      published: await listFiles(database, PUBLISHED_FILES_SQL),
      bodies: await listSpooledBodies(database),
      copyTo: (path) => snapshot.copyTo(path),
      close: () => snapshot.close(),
    };
  } catch (error) {
    await snapshot.close();
    throw error;
  }
}

const LAKE_FILES_SQL = (
  [
    ['ducklake_data_file', 'data_file_id'],
    ['ducklake_delete_file', 'delete_file_id'],
  ] as const
)
  .map(
    ([table, id]) => `
      SELECT DISTINCT s.path || t.path || f.path AS path, f.file_size_bytes AS bytes, p.sha256
      FROM ${table} f
      LEFT JOIN file_proof p ON p.file_id = f.${id}
      JOIN ducklake_table t ON t.table_id = f.table_id
      JOIN ducklake_schema s ON s.schema_id = t.schema_id`,
  )
  .join(' UNION ');

const PUBLISHED_FILES_SQL = `
  SELECT publication_id AS path, bytes, sha256 FROM publication
  WHERE committed_ms IS NOT NULL AND ended_ms IS NULL`;

interface NamedRow {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string | null;
}

async function listFiles(database: Database, query: string): Promise<readonly NamedFile[]> {
  const { rows } = await sql.raw<NamedRow>(query).execute(database);
  return rows.map(({ bytes, path, sha256 }) => ({ path, bytes, sha256: sha256 ?? undefined }));
}

async function listSpooledBodies(database: Database): Promise<readonly string[]> {
  const jobs = await database
    .selectFrom('job')
    .select('load_json')
    .where('status', 'in', [...UNFINISHED])
    .execute();
  return jobs.flatMap((row) => {
    const load = JSON.parse(row.load_json) as { ownFile: boolean; path: string };
    return load.ownFile ? [load.path] : [];
  });
}
