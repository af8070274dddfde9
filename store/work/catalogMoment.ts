// One moment of the catalog, held by a read transaction while its writers go on: what it names, and
// a copy of it that is exactly that moment.
import { sql } from 'kysely';
import type { CatalogPlace } from '../catalog/catalogPlace.ts';
import type { Database } from '../catalog/database.ts';
import { catalogHead } from '../files/catalogCheck.ts';
import { UNFINISHED } from './jobs.ts';

export interface NamedFile {
  /** Relative to the lake's root, or to the folder of published files. */
  readonly path: string;
  readonly bytes: number;
  /** Hex; undefined for a file of a time before there were hashes. */
  readonly sha256: string | undefined;
}

export interface CatalogMoment {
  /** Id of this lake, made with it and never changed. */
  readonly lakeId: string;
  /** The newest snapshot. */
  readonly snapshot: number;
  /** Data and delete files of every snapshot. */
  readonly files: readonly NamedFile[];
  /** Published files that have not ended, by their names. */
  readonly published: readonly NamedFile[];
  /** Names of spooled bodies whose job has not ended. */
  readonly bodies: readonly string[];
  /** Writes the copy at a path, as a file of SQLite: whole or not at all; not synced. */
  copyTo(path: string): Promise<void>;
  /** Once or more. */
  close(): Promise<void>;
}

/**
 * Opens the moment. What it names can be pinned before anything of it is removed where nothing is committed
 * meanwhile: whoever asks has the catalog's turn.
 */
export async function openMoment(place: Pick<CatalogPlace, 'openMoment'>): Promise<CatalogMoment> {
  const held = await place.openMoment();
  const { database } = held;
  try {
    const head = await catalogHead(database);
    return {
      lakeId: head?.lake ?? '',
      snapshot: head?.snapshot ?? 0,
      files: await namedFiles(database, NAMED_FILES),
      published: await namedFiles(database, PUBLISHED),
      bodies: await spooledBodies(database),
      copyTo: (path) => held.copyTo(path),
      close: () => held.close(),
    };
  } catch (error) {
    await held.close();
    throw error;
  }
}

const NAMED_FILES = (
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

const PUBLISHED = `
  SELECT publication_id AS path, bytes, sha256 FROM publication
  WHERE committed_ms IS NOT NULL AND ended_ms IS NULL`;

interface NamedRow {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string | null;
}

async function namedFiles(database: Database, query: string): Promise<readonly NamedFile[]> {
  const { rows } = await sql.raw<NamedRow>(query).execute(database);
  return rows.map(({ bytes, path, sha256 }) => ({ path, bytes, sha256: sha256 ?? undefined }));
}

async function spooledBodies(database: Database): Promise<readonly string[]> {
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
