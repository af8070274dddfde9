// Groups files without a catalog by the table in their stamps, and determines which of them were in force
// last.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileName } from '../../store/lake/versions/lakeRead.ts';
import { readStamp, shortName, type Stamp } from '../../store/lake/versions/stamp.ts';

export interface StampedFile {
  /** Relative to the searched folder. */
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly stamp: Stamp;
}

export interface FoundTable {
  readonly workspace: string;
  /** Its last name. */
  readonly dataset: string;
  readonly key?: string;
  readonly subkey?: string;
  readonly date?: string;
  readonly files: readonly StampedFile[];
}

export interface FoundFiles {
  readonly tables: readonly FoundTable[];
  /** Parquet files without a stamp, and all other files. */
  readonly strange: readonly string[];
}

/** Reads the stamp of each file; returns the tables with the newest files first. */
export async function findTables(root: string, paths: readonly string[]): Promise<FoundFiles> {
  const byTable = new Map<string, StampedFile[]>();
  const strange: string[] = [];
  for (const path of paths) {
    const stamp = path.endsWith('.parquet') ? await readStamp(join(root, path)) : undefined;
    if (stamp === undefined) {
      strange.push(path);
      continue;
    }
    const key = `${stamp.lake} ${stamp.tableId}`;
    const files = byTable.get(key) ?? [];
    byTable.set(key, files);
    const { size: bytes } = await stat(join(root, path));
    files.push({ path, name: fileName(path), bytes, stamp });
  }
  const tables = [...byTable.values()].map((files) => {
    const sorted = files.toSorted(byAge);
    const { dataset = '', date, key, subkey, workspace = '' } = sorted.at(-1)?.stamp ?? {};
    return {
      workspace,
      dataset,
      ...(key === undefined ? {} : { key }),
      ...(subkey === undefined ? {} : { subkey }),
      ...(date === undefined ? {} : { date }),
      files: sorted,
    };
  });
  const newest = ({ files }: FoundTable): number => files.at(-1)?.stamp.writtenMs ?? 0;
  return { tables: tables.toSorted((a, b) => newest(b) - newest(a)), strange };
}

const byAge = (a: StampedFile, b: StampedFile): number =>
  a.stamp.snapshot - b.stamp.snapshot || a.stamp.writtenMs - b.stamp.writtenMs;

interface InForce {
  /** The oldest first. */
  readonly data: readonly StampedFile[];
  /** The newest delete file of each data file, by the data file's name. */
  readonly deletes: ReadonlyMap<string, StampedFile>;
  /** A file replaced more files than it could name. */
  readonly unsure: boolean;
}

/** Replays the stamps of one table's files, from the oldest to the newest. */
export function findFilesInForce(files: readonly StampedFile[]): InForce {
  const data = new Map<string, StampedFile>();
  const deletes = new Map<string, StampedFile>();
  let unsure = false;
  for (const file of files) {
    const { deletesOf, replaces } = file.stamp;
    if (deletesOf !== undefined) {
      deletes.set(deletesOf, file);
      continue;
    }
    if (replaces === 'all') data.clear();
    else if (replaces === 'many') unsure = true;
    else for (const short of replaces ?? []) data.delete(short);
    data.set(shortName(file.name), file);
  }
  return { data: [...data.values()], deletes, unsure };
}
