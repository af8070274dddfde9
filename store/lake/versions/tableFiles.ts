// A table's files in hand: pinned for as long as something reads them, and read only while they are what
// was written.
import { Failure, reasonOf } from '../../base/failure.ts';
import type { LakeFile } from '../../files/fileProofs.ts';
import type { Files } from '../../files/files.ts';
import { type DataFile, fileName } from './lakeRead.ts';
import type { PathOf } from './openFile.ts';

export interface OpenFiles {
  /** Local paths of the data files and their delete files. */
  readonly paths: readonly string[];
  /** @throws Failure Damaged: what is not read does no harm, so only a read that names the file fails. */
  readonly pathOf: PathOf;
  readonly isDamaged: (relative: string) => boolean;
}

/** Opens data files with their delete files; none of them is removed before `work` has ended. */
export const withOpenFiles = <T>(
  files: Files,
  dataFiles: readonly DataFile[],
  work: (open: OpenFiles) => Promise<T>,
): Promise<T> => withFiles(files, dataFiles, work, false);

/** The same for who writes anew what they hold: every byte is compared with what was written first. */
export const withProvedFiles = <T>(
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
  const read = new Set<string>();
  const pathOf = (path: string): string => {
    const what = damage.get(path);
    if (what !== undefined) throw damaged(path, what);
    read.add(path);
    return local.get(path) ?? path;
  };
  const isDamaged = (path: string): boolean => damage.has(path);
  try {
    return await work({ paths: pinned.paths, pathOf, isDamaged });
  } catch (error) {
    throw await blamed(
      error,
      files,
      all.filter(({ path }) => read.has(path)),
    );
  } finally {
    pinned.release();
  }
}

/** Sentences of DuckDB that may be about a file that is not what it was, and a child that it killed. */
const FILE_FAULT =
  /parquet|thrift|TProtocol|zstd|decompress|corrupt|magic bytes|IO Error|No files found|out of buffer/i;

/** A failed read of damaged files is told as such: neither the caller nor the query is to blame. */
async function blamed(error: unknown, files: Files, read: readonly LakeFile[]): Promise<unknown> {
  if (!(error instanceof Failure) || error.type === 'Damaged') return error;
  // The first line: behind it is an excerpt of the statement, which names files.
  const [reason = ''] = reasonOf(error).split('\n', 1);
  if (error.type !== 'ChildLost' && !FILE_FAULT.test(reason)) return error;
  for (const [path, what] of await files.examine(read)) return damaged(path, what);
  return error;
}

function damaged(path: string, what: string): Failure {
  const rest =
    'what other files hold can be read, and the operator can heal it by "tapedeck repair"';
  return new Failure('Damaged', `the stored file ${fileName(path)} ${what}: ${rest}`);
}
