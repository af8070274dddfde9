// Compares the pages of a Parquet file with the checksums in their headers, which DuckDB ignores.
// Many writers omit checksums; then the first page has none, and nothing else is read.
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { Failure } from '../../../store/base/failure.ts';
import { Thrift, TYPE } from './thrift.ts';

/** Bytes that contain the header of a page at most: minima and maxima may be long. */
const HEADER_BYTES_MAX = 1024 ** 2;
/** Bytes that contain most headers. */
const HEADER_BYTES = 4 * 1024;
const PIECE_BYTES = 1024 ** 2;
/** The first page follows `PAR1`. */
const FIRST_PAGE = 4;

/** Consecutive pages of one column. */
interface Chunk {
  readonly column: string;
  readonly from: number;
  readonly bytes: number;
}

export interface PagesTask {
  readonly kind: 'pages';
  readonly from: string;
  readonly chunks: readonly Chunk[];
}

interface PageHeader {
  /** Bytes of the header itself, and of the page after it. */
  readonly length: number;
  readonly bytes: number;
  readonly checksum: number | undefined;
}

export async function hasChecksums(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    return (await readHeader(file, FIRST_PAGE)).checksum !== undefined;
  } catch {
    // DuckDB refuses a file without a valid page.
    return false;
  } finally {
    await file.close();
  }
}

/** @throws Failure InvalidBody naming the column of the first page that does not match its checksum */
export async function checkPages({ chunks, from }: PagesTask): Promise<void> {
  const file = await open(from);
  try {
    for (const chunk of chunks) await checkChunk(file, chunk);
  } finally {
    await file.close();
  }
}

export const UNREADABLE_PARQUET = 'the body is not readable Parquet';

async function checkChunk(file: FileHandle, { bytes, column, from }: Chunk): Promise<void> {
  const damaged = new Failure(
    'InvalidBody',
    `${UNREADABLE_PARQUET}: a page of column ${column} does not match its checksum`,
  );
  for (let at = from; at < from + bytes;) {
    const header = await readHeader(file, at).catch(() => undefined);
    if (header === undefined || header.bytes < 0) throw damaged;
    at += header.length;
    if (
      header.checksum !== undefined &&
      (await computeChecksum(file, at, header.bytes)) !== header.checksum
    ) {
      throw damaged;
    }
    at += header.bytes;
  }
}

async function computeChecksum(file: FileHandle, from: number, bytes: number): Promise<number> {
  const piece = Buffer.alloc(Math.min(bytes, PIECE_BYTES));
  let sum = 0;
  for (let done = 0; done < bytes;) {
    const most = Math.min(piece.length, bytes - done);
    const { bytesRead } = await file.read(piece, 0, most, from + done);
    if (bytesRead === 0) return -1;
    sum = crc32(piece.subarray(0, bytesRead), sum);
    done += bytesRead;
  }
  return sum;
}

async function readHeader(file: FileHandle, at: number): Promise<PageHeader> {
  for (let most = HEADER_BYTES; ; most = HEADER_BYTES_MAX) {
    const buffer = Buffer.alloc(most);
    const { bytesRead } = await file.read(buffer, 0, most, at);
    try {
      return readPageHeader(buffer.subarray(0, bytesRead));
    } catch (error) {
      if (most === HEADER_BYTES_MAX || bytesRead < most) throw error;
    }
  }
}

/** Fields of a page header in Parquet's Thrift. */
const COMPRESSED_SIZE = 3;
const CHECKSUM = 4;

function readPageHeader(buffer: Buffer): PageHeader {
  const thrift = new Thrift(buffer);
  let [bytes, checksum]: [number, number | undefined] = [-1, undefined];
  thrift.fields((id, type) => {
    if (!TYPE.integers.includes(type)) return false;
    const value = thrift.integer();
    if (id === COMPRESSED_SIZE) bytes = value;
    if (id === CHECKSUM) checksum = value >>> 0;
    return true;
  });
  return { length: thrift.at, bytes, checksum };
}
