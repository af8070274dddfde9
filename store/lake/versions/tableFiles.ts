// Opens a table's files: pins them while they are read, and refuses files that differ from the written bytes.
import { Failure, reasonOf } from '../../base/failure.ts';
import type { LakeFile } from '../../files/fileProofs.ts';
import type { Files } from '../../files/files.ts';
import { type DataFile, fileName } from './lakeRead.ts';
import type { ResolvePath } from './openFile.ts';

export interface OpenFiles {
  /** Local paths of the data files and their delete files. */
  readonly paths: readonly string[];
  /** @throws Failure Damaged when a read uses the file; unread damaged files have no effect. */
  readonly pathOf: ResolvePath;
  readonly isDamaged: (relative: string) => boolean;
}

/** Opens data files with their delete files; none of them is removed before `work` has ended. */
export const withOpenFiles = <T>(
  files: Files,
  dataFiles: readonly DataFile[],
  work: (open: OpenFiles) => Promise<T>,
): Promise<T> => withFiles(files, dataFiles, work, false);

/** Opens files for a rewrite: every byte is verified against the written hash first. */
export const withVerifiedFiles = <T>(
  files: Files,
  dataFiles: readonly DataFile[],
  work: (open: OpenFiles) => Promise<T>,
): Promise<T> => withFiles(files, dataFiles, work, true);

async function withFiles<T>(
  files: Files,
  dataFiles: readonly DataFile[],
  work: (open: OpenFiles) => Promise<T>,
  compare: boolean,
): Promise<T> {
  const all = dataFiles.flatMap((file) => (file.deletes === null ? [file] : [file, file.deletes]));
  const pinned = await files.open(all, compare);
  const { damage } = pinned;
  const local = new Map(all.map(({ path }, at) => [path, pinned.paths[at] ?? path]));
  const readPaths = new Set<string>();
  const pathOf = (path: string): string => {
    const damageText = damage.get(path);
    if (damageText !== undefined) throw damagedFailure(path, damageText);
    readPaths.add(path);
    return local.get(path) ?? path;
  };
  const isDamaged = (path: string): boolean => damage.has(path);
  try {
    return await work({ paths: pinned.paths, pathOf, isDamaged });
  } catch (error) {
    throw await attributeFault(
      error,
      files,
      all.filter(({ path }) => readPaths.has(path)),
    );
  } finally {
    pinned.release();
  }
}

/** Errors of DuckDB that a damaged file may cause, and a process that it killed. */
const FILE_FAULT =
  /parquet|thrift|TProtocol|zstd|decompress|corrupt|magic bytes|IO Error|No files found|out of buffer/i;

/** Reports a failed read of damaged files as damage: neither the caller nor the query is at fault. */
async function attributeFault(
  error: unknown,
  files: Files,
  readPaths: readonly LakeFile[],
): Promise<unknown> {
  if (!(error instanceof Failure) || error.type === 'Damaged') return error;
  // Only the first line: the statement excerpt after it names files.
  const [reason = ''] = reasonOf(error).split('\n', 1);
  if (error.type !== 'ChildLost' && !FILE_FAULT.test(reason)) return error;
  for (const [path, damageText] of await files.compareAgain(readPaths))
    return damagedFailure(path, damageText);
  return error;
}

function damagedFailure(path: string, damageText: string): Failure {
  const rest = 'other files can be read, and the operator can repair it with "tapedeck repair"';
  return new Failure('Damaged', `the stored file ${fileName(path)} ${damageText}: ${rest}`);
}
