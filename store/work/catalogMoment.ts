// One moment of the catalog, held by a read transaction while its writers go on: what it names, and
// a copy of it that is exactly that moment.
import { rename } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import { UNFINISHED } from './jobs.ts';

interface NamedFile {
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
  /** Writes the copy at a path, whole or not at all; not synced. */
  copyTo(path: string): Promise<void>;
  /** Once or more. */
  close(): void;
}

/** Pages of one step: a step runs beside the event loop, and a step is what a stop waits for. */
const PAGES_AT_ONCE = 1_000;

/**
 * Opens the moment at once, without a pause in which another part of this process could run: what
 * it names can be pinned before anything of it is removed.
 */
export function openMoment(catalog: string): CatalogMoment {
  const reader = new DatabaseSync(catalog, { readOnly: true, timeout: 5_000 });
  try {
    // Without it, SQLite begins a copy again at every commit and never ends beside writers.
    reader.exec('BEGIN');
    return {
      lakeId: String(only(reader, 'SELECT schema_uuid FROM ducklake_schema WHERE schema_id = 0')),
      snapshot: Number(only(reader, 'SELECT max(snapshot_id) FROM ducklake_snapshot')),
      files: namedFiles(reader, NAMED_FILES),
      published: namedFiles(reader, PUBLISHED),
      bodies: spooledBodies(reader),
      copyTo: (path) => copy(reader, path),
      close: () => {
        if (reader.isOpen) reader.close();
      },
    };
  } catch (error) {
    reader.close();
    throw error;
  }
}

function only(reader: DatabaseSync, query: string): unknown {
  const row = reader.prepare(query).get() ?? {};
  return Object.values(row)[0];
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

const namedFiles = (reader: DatabaseSync, query: string): readonly NamedFile[] =>
  reader
    .prepare(query)
    .all()
    .map((row) => ({
      path: String(row['path']),
      bytes: Number(row['bytes']),
      sha256: typeof row['sha256'] === 'string' ? row['sha256'] : undefined,
    }));

function spooledBodies(reader: DatabaseSync): readonly string[] {
  const states = UNFINISHED.map((status) => `'${status}'`).join(', ');
  const jobs = reader.prepare(`SELECT load_json FROM job WHERE status IN (${states})`).all();
  return jobs.flatMap((row) => {
    const load = JSON.parse(String(row['load_json'])) as { ownFile: boolean; path: string };
    return load.ownFile ? [load.path] : [];
  });
}

async function copy(reader: DatabaseSync, path: string): Promise<void> {
  const fresh = `${path}.part`;
  await backup(reader, fresh, { rate: PAGES_AT_ONCE });
  // One file that says it all: a reader needs to write nothing beside it.
  const written = new DatabaseSync(fresh);
  try {
    written.exec('PRAGMA journal_mode = DELETE');
  } finally {
    written.close();
  }
  await rename(fresh, path);
}
