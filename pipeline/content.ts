// What a file is, decided by its bytes and never by its name or header (INTERFACE.md 3.2: the
// original's own sample posts CSV as application/json).
import { open } from 'node:fs/promises';
import { Failure } from '../store/failure.ts';

type Content = 'gzip' | 'parquet' | 'csv';

/** Bytes looked at: enough rows for a delimiter and a first guess at types. */
export const HEAD_BYTES = 1024 ** 2;

export async function readHead(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(HEAD_BYTES);
    let filled = 0;
    while (filled < buffer.length) {
      const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  } finally {
    await file.close();
  }
}

/** @throws Failure InvalidBody when the bytes are none of the formats that can be loaded. */
export function contentOf(head: Buffer): Content {
  if (head.length === 0) throw new Failure('InvalidBody', 'the body is empty');
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  if (head.subarray(0, 4).toString('latin1') === 'PAR1') return 'parquet';
  if (head.includes(0)) {
    throw new Failure('InvalidBody', 'the body is neither Parquet, gzip nor UTF-8 text');
  }
  const first = head.toString('utf8').trimStart().at(0);
  if (first === '{' || first === '[') {
    throw new Failure('InvalidBody', 'the body is JSON; loads take CSV or Parquet, also gzipped');
  }
  return 'csv';
}
