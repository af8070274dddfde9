// Joins the pages of a list into one file, one record per line: a list is stored as a whole or not at all, so
// that a fault of its last page leaves none of the others behind.
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Failure, toDiskFullFailure } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import { openRelation } from '../decode/decode.ts';
import { jsonRecords } from '../values/jsonRecords.ts';
import type { Piece } from '../sources/base/source.ts';
import { literal } from '../../store/duckdb/sqlText.ts';
import type { Workbench } from '../bytes/workbench.ts';

/** @throws Failure if a page is not JSON, or the disk is full. */
export async function joinPages(
  pages: readonly Pick<Piece, 'jsonPath' | 'path'>[],
  bench: Workbench,
): Promise<Pick<Piece, 'bytes' | 'path'>> {
  const path = join(bench.folder, newUuid());
  for (const page of pages) {
    const lines = await writeRecords(page, bench);
    try {
      await pipeline(createReadStream(lines), createWriteStream(path, { flags: 'a', mode: 0o600 }));
    } catch (error) {
      throw toDiskFullFailure(error);
    }
    await rm(lines);
  }
  const { size } = await stat(path);
  return { path, bytes: size };
}

/** Writes the page's records unchanged: digits, order of members, repeated ones. */
async function writeRecords(
  page: Pick<Piece, 'jsonPath' | 'path'>,
  bench: Workbench,
): Promise<string> {
  const { deadlineMs, folder, pool } = bench;
  const relation = await openRelation(page, bench);
  if (relation.kind !== 'json') throw new Failure('InvalidBody', 'a page of a list is no JSON');
  const path = join(folder, newUuid());
  // Raw line ends occur only between tokens of JSON, and a raw control character nowhere.
  const line = `translate(coalesce(CAST(json AS VARCHAR), 'null'), chr(10) || chr(13), '  ')`;
  const statement = `COPY (SELECT ${line} FROM ${jsonRecords(relation)}) TO ${literal(path)}
    (FORMAT csv, HEADER false, DELIMITER e'\\x01', QUOTE '', ESCAPE '')`;
  await pool.rows({ files: [relation.path], folder, statements: [statement], deadlineMs });
  return path;
}
