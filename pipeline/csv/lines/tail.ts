// Reads or cuts the last lines of a text file; blank lines count, as they do above the header.
import { copyFile, type FileHandle, open, truncate } from 'node:fs/promises';
import { Failure, toDiskFullFailure } from '../../../store/base/failure.ts';

/** Bytes per read, and bytes that are searched for the last lines. */
const PIECE_BYTES = 256 * 1024;
const [FEED, RETURN] = [10, 13] as const;

/** The lines above the `skipLast` last ones, including blank ones; at most those of 256 kB. */
export async function readLastLines(path: string, skipLast = 0): Promise<readonly string[]> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const end = skipLast === 0 ? size : ((await findLastLines(file, size, skipLast)) ?? 0);
    const from = Math.max(0, end - PIECE_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - from), 0, end - from, from);
    const lines = buffer.toString('utf8', 0, bytesRead).split(/\r\n|\n|\r/);
    if (lines.at(-1) === '') lines.pop();
    return lines;
  } finally {
    await file.close();
  }
}

/** The byte where the last lines of a file begin; undefined if it has fewer. */
async function findLastLines(
  file: FileHandle,
  size: number,
  lines: number,
): Promise<number | undefined> {
  const buffer = Buffer.alloc(Math.min(PIECE_BYTES, size));
  let count = 0;
  let next = -1;
  for (let end = size; end > 0;) {
    const from = Math.max(0, end - buffer.length);
    await file.read(buffer, 0, end - from, from);
    for (let at = end - from - 1; at >= 0; at -= 1) {
      const byte = buffer[at];
      const ends = byte === FEED || (byte === RETURN && next !== FEED);
      next = byte ?? -1;
      // The break at the very end terminates the last line and does not begin another.
      if (!ends || from + at + 1 === size) continue;
      count += 1;
      if (count === lines) return from + at + 1;
    }
    end = from;
  }
  return count + 1 === lines ? 0 : undefined;
}

/** Copies the file without its last lines. @throws Failure InvalidBody if it has fewer of them */
export async function copyWithoutLast(from: string, to: string, lines: number): Promise<void> {
  const file = await open(from, 'r');
  const end = await file
    .stat()
    .then(({ size }) => findLastLines(file, size, lines))
    .finally(() => file.close());
  if (end === undefined || end === 0) {
    throw new Failure('InvalidBody', `"skipLast" is ${lines}: the body has fewer lines at its end`);
  }
  try {
    await copyFile(from, to);
    await truncate(to, end);
  } catch (error) {
    throw toDiskFullFailure(error);
  }
}
