// Result rows as a Parquet file that DuckDB writes itself, in a folder of its caller's.
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { literal } from './instance.ts';
import type { Body, Bound } from './protocol.ts';
import { BODY_BYTES_MAX, checkTypes, tooLarge } from './render.ts';

/** As the lake's own files. */
const ROW_GROUP_ROWS = 122_880;
/** How often the growing file is looked at. */
const LOOK_MS = 100;

/** @throws Failure TooLarge, as soon as the file is. */
export async function copyBody(
  connection: DuckDBConnection,
  query: string,
  parameters: readonly Bound[],
  folder: string,
): Promise<Body> {
  const path = join(folder, 'body.parquet');
  const options = `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP_ROWS}`;
  const copy = `COPY (${query}) TO ${literal(path)} (${options}, USE_TMP_FILE false)`;
  // What the file would hold is known before it is written.
  checkTypes(await connection.stream(`FROM (${query}) LIMIT 0`, [...parameters]));
  let over = false;
  const look = async (): Promise<void> => {
    over ||= (await bytesOf(path)) > BODY_BYTES_MAX;
  };
  const looking = setInterval(async () => {
    await look();
    if (over) connection.interrupt();
  }, LOOK_MS);
  try {
    const [row] = (await connection.runAndReadAll(copy, [...parameters])).getRowObjectsJson();
    await look();
    if (over) throw tooLarge();
    return { objects: Number(row?.['Count']), bytes: await readFile(path) };
  } catch (error) {
    // An interrupted COPY takes its file away.
    throw over ? tooLarge() : error;
  } finally {
    clearInterval(looking);
    await rm(path, { force: true });
  }
}

async function bytesOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}
