// Finds the files of a folder that hold a text: by their bytes, and by the decoded values of Parquet files,
// since compressed bytes do not show it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { localDisk } from '../../store/base/disk.ts';
import { connectionHere } from './duckdbHere.ts';

/** Paths, relative to the folder, of the files that hold a text, sorted. */
type Look = (text: string) => readonly string[];

/** Reads the folder once; a file that is removed meanwhile counts as empty. */
export async function lookInto(folder: string): Promise<Look> {
  const contents = new Map<string, readonly Buffer[]>();
  const connection = await connectionHere();
  try {
    for (const name of await localDisk.list(folder)) {
      const path = join(folder, name);
      const bytes = await readFile(path).catch(() => undefined);
      if (bytes === undefined) continue;
      const decoded = name.endsWith('.parquet') ? [await decode(connection, path)] : [];
      contents.set(name, [bytes, ...decoded]);
    }
  } finally {
    connection.closeSync();
  }
  const paths = [...contents.keys()].toSorted();
  return (text) => paths.filter((path) => contents.get(path)?.some((one) => one.includes(text)));
}

export const holders = async (folder: string, text: string): Promise<readonly string[]> =>
  (await lookInto(folder))(text);

/** All values of a Parquet file; empty for a truncated one, whose bytes are searched. */
async function decode(connection: DuckDBConnection, path: string): Promise<Buffer> {
  const sql = `SELECT string_agg(CAST(to_json(r) AS VARCHAR)) FROM read_parquet('${path}') AS r`;
  try {
    const rows = (await connection.runAndReadAll(sql)).getRows();
    return Buffer.from(String(rows[0]?.[0] ?? ''));
  } catch {
    return Buffer.alloc(0);
  }
}

const LOOKS_MAX = 200;

/** Waits until a condition is true, for a few seconds at most. */
export async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    if (await isSo()) return;
    await sleep(20);
  }
  throw new Error('the condition did not become true');
}
