// Files that nobody reads rot unseen: each is read again from time to time, at a pace that nobody
// notices, and all of them when the operator asks.
import type { Clock } from '../../store/base/clock.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { LakeFile } from '../../store/files/fileProofs.ts';
import type { Files } from '../../store/files/files.ts';
import { tableFolders } from '../../store/lake/versions/lakeRead.ts';
import type { HashFile } from '../../store/base/contents.ts';
import type { DamagedPublications } from '../../store/publications/damagedPublications.ts';
import type { PublishedFiles } from '../../store/publications/publishedFiles.ts';
import type { DamagedFile, FilesVerdict } from './filesVerdict.ts';
import { CHECK_AFTER_MS, makePublishedCheck } from './publishedCheck.ts';
import { dropStaleProofs, saveCompared } from '../../store/files/proofTable.ts';

interface FileCheckParts {
  readonly database: Database;
  readonly files: Files;
  readonly hash: HashFile;
  /** Published files, and which of them are damaged. */
  readonly publishedFiles: PublishedFiles;
  readonly damagedPublications: DamagedPublications;
  readonly clock: Clock;
  /** 0: nothing is checked by itself. */
  readonly bytesPerSecond: number;
}

export interface FileCheck {
  /** Checks the file that was not checked for the longest time, when its turn has come. */
  look(): Promise<void>;
  /** Checks every file of every version, and every published one. */
  all(): Promise<FilesVerdict>;
  /** Checks those that were damaged when they were checked last. */
  again(): Promise<FilesVerdict>;
  state(): { readonly checkedFiles: number; readonly checkedBytes: number };
}

/** Files that are listed for their turns at a time. */
const LISTED_MAX = 1_000;
const EVERY = Number.MAX_SAFE_INTEGER;

interface Listed extends LakeFile {
  readonly fileId: number;
}

export function makeFileCheck(parts: FileCheckParts): FileCheck {
  const { bytesPerSecond, clock, database } = parts;
  let turns: Listed[] = [];
  let restsUntilMs = 0;
  const published = makePublishedCheck(parts);
  let [checkedFiles, checkedBytes] = [0, 0];
  const check = async (file: Listed): Promise<DamagedFile | undefined> => {
    const what = await checkFile(file, parts);
    checkedFiles += 1;
    checkedBytes += file.bytes;
    return what === undefined
      ? undefined
      : { folder: 'lake', path: file.path, what, sha256: file.proof?.sha256 ?? '' };
  };
  const checkEach = async (listed: readonly Listed[]): Promise<FilesVerdict> => {
    const damaged: DamagedFile[] = [];
    for (const file of listed) {
      const found = await check(file);
      if (found !== undefined) damaged.push(found);
    }
    const bytes = listed.reduce((sum, file) => sum + file.bytes, 0);
    return { files: listed.length, bytes, damaged };
  };
  return {
    look: async () => {
      const nowMs = clock();
      if (bytesPerSecond === 0 || (nowMs < restsUntilMs && restsUntilMs - nowMs < CHECK_AFTER_MS)) {
        return;
      }
      if (turns.length === 0) turns = await listFiles(database, nowMs - CHECK_AFTER_MS);
      const file = turns.shift();
      if (file !== undefined) await check(file);
      const bytes = file?.bytes ?? (await published.look(nowMs));
      if (bytes === undefined) await dropStaleProofs(database);
      restsUntilMs =
        bytes === undefined ? nowMs + REST_MS : clock() + (bytes / bytesPerSecond) * 1_000;
    },
    all: async () => {
      const lake = await checkEach(await listFiles(database, Number.POSITIVE_INFINITY, EVERY));
      const others = await published.all();
      return {
        files: lake.files + others.files,
        bytes: lake.bytes + others.bytes,
        damaged: [...lake.damaged, ...others.damaged],
      };
    },
    again: async () => {
      const listed = await listFiles(database, Number.POSITIVE_INFINITY, EVERY);
      return checkEach(listed.filter(({ proof }) => proof?.seen === null));
    },
    state: () => ({
      checkedFiles: checkedFiles + published.state().checkedFiles,
      checkedBytes: checkedBytes + published.state().checkedBytes,
    }),
  };
}

/** With no file due it is asked so often whether one is. */
const REST_MS = 600_000;

/** A file that has gone meanwhile is nobody's damage. */
async function checkFile(file: Listed, parts: FileCheckParts): Promise<string | undefined> {
  const { clock, database, files } = parts;
  let pinned: ReturnType<Files['pin']>;
  try {
    pinned = files.pin([file.path]);
  } catch {
    return undefined;
  }
  try {
    const found = await files.inspect(file);
    if (found.kind === 'damaged') return found.what;
    const { fileId } = file;
    await saveCompared(database, { fileId, ...found.proof, damage: null }, clock());
    return undefined;
  } finally {
    pinned.release();
  }
}

/** Data and delete files of every version that were not compared since, the oldest first. */
async function listFiles(
  database: Database,
  beforeMs: number,
  limit = LISTED_MAX,
): Promise<Listed[]> {
  const folders = await tableFolders(database);
  const rows = await database
    .selectFrom('ducklake_data_file')
    .select(['data_file_id as id', 'table_id', 'path', 'file_size_bytes as bytes'])
    .unionAll((more) =>
      more
        .selectFrom('ducklake_delete_file')
        .select(['delete_file_id as id', 'table_id', 'path', 'file_size_bytes as bytes']),
    )
    .execute();
  const known = await database.selectFrom('file_proof').selectAll().execute();
  const proofs = new Map(known.map((row) => [row.file_id, row]));
  return rows
    .map((row) => ({ row, proof: proofs.get(row.id) }))
    .filter(({ proof }) => (proof?.checked_ms ?? 0) < beforeMs)
    .sort((a, b) => (a.proof?.checked_ms ?? 0) - (b.proof?.checked_ms ?? 0))
    .slice(0, limit)
    .map(({ row, proof }) => ({
      fileId: row.id,
      path: `${folders.get(row.table_id)}${row.path}`,
      bytes: row.bytes,
      proof:
        proof === undefined
          ? undefined
          : { fileId: row.id, sha256: proof.sha256, seen: proof.seen },
    }));
}
