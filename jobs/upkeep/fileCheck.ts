// Checks files for bit rot: each is read again from time to time, at a slow pace, and all of them on request.
import type { Clock } from '../../store/base/clock.ts';
import type { Database } from '../../store/catalog/database.ts';
import type { LakeFile } from '../../store/files/fileProofs.ts';
import type { Files } from '../../store/files/files.ts';
import { tableFolders } from '../../store/lake/versions/lakeRead.ts';
import type { HashFile } from '../../store/base/fileDigest.ts';
import type { DamagedPublications } from '../../store/publications/damagedPublications.ts';
import type { PublishedFiles } from '../../store/publications/publishedFiles.ts';
import type { DamagedFile, FilesVerdict } from './filesVerdict.ts';
import { CHECK_AFTER_MS, makePublishedCheck } from './publishedCheck.ts';
import { dropStaleProofs, saveComparison } from '../../store/files/proofTable.ts';

interface FileCheckParts {
  readonly database: Database;
  readonly files: Files;
  readonly hash: HashFile;
  /** Published files, and which of them are damaged. */
  readonly publishedFiles: PublishedFiles;
  readonly damagedPublications: DamagedPublications;
  readonly clock: Clock;
  /** 0: no automatic checks. */
  readonly bytesPerSecond: number;
}

export interface FileCheck {
  /** Checks the file with the oldest check, when it is due. */
  checkNext(): Promise<void>;
  /** Checks every file of every version, and every published one. */
  checkAll(): Promise<FilesVerdict>;
  /** Checks the files that were damaged at their last check. */
  checkDamaged(): Promise<FilesVerdict>;
  state(): { readonly checkedFiles: number; readonly checkedBytes: number };
}

/** Files of one list. */
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
      const result = await check(file);
      if (result !== undefined) damaged.push(result);
    }
    const bytes = listed.reduce((sum, file) => sum + file.bytes, 0);
    return { files: listed.length, bytes, damaged };
  };
  return {
    checkNext: async () => {
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
    checkAll: async () => {
      const lake = await checkEach(await listFiles(database, Number.POSITIVE_INFINITY, EVERY));
      const others = await published.all();
      return {
        files: lake.files + others.files,
        bytes: lake.bytes + others.bytes,
        damaged: [...lake.damaged, ...others.damaged],
      };
    },
    checkDamaged: async () => {
      const listed = await listFiles(database, Number.POSITIVE_INFINITY, EVERY);
      return checkEach(listed.filter(({ proof }) => proof?.seen === null));
    },
    state: () => ({
      checkedFiles: checkedFiles + published.state().checkedFiles,
      checkedBytes: checkedBytes + published.state().checkedBytes,
    }),
  };
}

/** Interval between two queries for due files, when none is due. */
const REST_MS = 600_000;

/** A file that was removed meanwhile is not damaged. */
async function checkFile(file: Listed, parts: FileCheckParts): Promise<string | undefined> {
  const { clock, database, files } = parts;
  let pinned: ReturnType<Files['pin']>;
  try {
    pinned = files.pin([file.path]);
  } catch {
    return undefined;
  }
  try {
    const result = await files.inspect(file);
    if (result.kind === 'damaged') return result.what;
    const { fileId } = file;
    await saveComparison(database, { fileId, ...result.proof, damage: null }, clock());
    return undefined;
  } finally {
    pinned.release();
  }
}

/** Data and delete files of every version that were not checked since, the oldest checks first. */
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
  const proofRows = await database.selectFrom('file_proof').selectAll().execute();
  const proofs = new Map(proofRows.map((row) => [row.file_id, row]));
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
