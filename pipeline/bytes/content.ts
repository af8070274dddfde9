// Detects what a file is by its bytes, never by its name or header (INTERFACE.md 3.2: the
// original's own sample posts CSV as application/json).
import { open } from 'node:fs/promises';
import { Failure } from '../../store/base/failure.ts';
import { allocateBuffer } from './pieces.ts';

type Content = 'gzip' | 'zstd' | 'zip' | 'parquet' | 'arrow-file' | 'arrow-stream' | 'text';

/** Bytes inspected: enough rows for a delimiter and a first guess at types. */
export const HEAD_BYTES = 1024 ** 2;

export async function readHead(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const buffer = await allocateBuffer(file, HEAD_BYTES);
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

export const emptyFailure = (): Failure => new Failure('InvalidBody', 'the body is empty');

/** @throws Failure InvalidBody for an empty body. */
export function detectContent(head: Buffer): Content {
  if (head.length === 0) throw emptyFailure();
  const magic = head.subarray(0, 4).toString('hex');
  if (magic.startsWith('1f8b')) return 'gzip';
  if (magic === '28b52ffd') return 'zstd';
  if (magic === '504b0304') return 'zip';
  if (magic === '50415231') return 'parquet';
  if (head.toString('latin1', 0, 6) === 'ARROW1') return 'arrow-file';
  return magic === 'ffffffff' ? 'arrow-stream' : 'text';
}

/** @param head of a text in UTF-8 */
export function detectTextContent(head: Buffer): 'csv' | 'json' {
  const first = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart()
    .at(0);
  return first === '{' || first === '[' ? 'json' : 'csv';
}
