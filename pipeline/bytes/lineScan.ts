// read_csv silently drops a line that is larger than its buffer (DuckDB 1.5.5: 20 MB in a
// buffer of 32 MB, line size limit and reject table set). This scan finds such a line first: it contains a
// whole window of the file without a line break, and a window costs one small read.
import { type FileHandle, open } from 'node:fs/promises';
import { Failure } from '../../store/base/failure.ts';

const WINDOW_BYTES = 8 * 1024 ** 2;
const PIECE_BYTES = 64 * 1024;
const LINE_BREAKS = [0x0a, 0x0d] as const;

/** @throws Failure InvalidBody when a line is certainly over 8 MB; one over 16 MB is always found. */
export async function refuseEndlessLine(path: string): Promise<void> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size < WINDOW_BYTES) return;
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (let from = 0; from + WINDOW_BYTES <= size; from += WINDOW_BYTES) {
      if (await hasBreak(file, from, piece)) continue;
      throw new Failure('InvalidBody', `a line of the body is over ${WINDOW_BYTES} bytes`);
    }
  } finally {
    await file.close();
  }
}

async function hasBreak(file: FileHandle, from: number, piece: Buffer): Promise<boolean> {
  for (let at = from; at < from + WINDOW_BYTES; at += PIECE_BYTES) {
    const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, at);
    const read = piece.subarray(0, bytesRead);
    if (LINE_BREAKS.some((byte) => read.includes(byte))) return true;
  }
  return false;
}
