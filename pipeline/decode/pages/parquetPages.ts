// Compares the pages of a Parquet file with the checksums in their headers, which DuckDB ignores.
// Many writers omit checksums; then the first page has none, and nothing else is read.
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { Failure } from '../../../store/base/failure.ts';

/** Bytes that contain the header of a page at most: minima and maxima may be long. */
const HEADER_BYTES_MAX = 1024 ** 2;
/** Bytes that contain most headers. */
const HEADER_BYTES = 4 * 1024;
const PIECE_BYTES = 1024 ** 2;
const DEPTH_MAX = 16;
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
      return new Thrift(buffer.subarray(0, bytesRead)).pageHeader();
    } catch (error) {
      if (most === HEADER_BYTES_MAX || bytesRead < most) throw error;
    }
  }
}

/** Fields of a page header in Parquet's Thrift. */
const COMPRESSED_SIZE = 3;
const CHECKSUM = 4;
/** Types of the compact protocol. */
const TYPE = { byte: 3, integers: [4, 5, 6], double: 7, binary: 8, lists: [9, 10], struct: 12 };

/** Thrift's compact protocol, as far as needed to find the end of a header. */
class Thrift {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  pageHeader(): PageHeader {
    let [bytes, checksum]: [number, number | undefined] = [-1, undefined];
    this.#fields(0, (id, type) => {
      if (!TYPE.integers.includes(type)) return false;
      const value = this.#integer();
      if (id === COMPRESSED_SIZE) bytes = value;
      if (id === CHECKSUM) checksum = value >>> 0;
      return true;
    });
    return { length: this.#at, bytes, checksum };
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new Error('the header is cut short');
    this.#at += 1;
    return byte;
  }

  #unsigned(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 53; factor *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new Error('a number is too long');
  }

  #integer(): number {
    const value = this.#unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  #fields(depth: number, take: (id: number, type: number) => boolean): void {
    if (depth > DEPTH_MAX) throw new Error('the header is too deep');
    for (let id = 0; ;) {
      const head = this.#byte();
      if (head === 0) return;
      id = head >> 4 === 0 ? this.#integer() : id + (head >> 4);
      const type = head & 0x0f;
      if (!take(id, type)) this.#skip(type, depth);
    }
  }

  #skip(type: number, depth: number): void {
    if (type === TYPE.byte) this.#byte();
    else if (TYPE.integers.includes(type)) this.#unsigned();
    else if (type === TYPE.double) this.#at += 8;
    else if (type === TYPE.binary) this.#at += this.#unsigned();
    else if (type === TYPE.struct) this.#fields(depth + 1, () => false);
    else if (TYPE.lists.includes(type)) this.#skipList(depth);
    // The value of a boolean is part of its type.
    else if (type > 2) throw new Error('the header has an unknown type');
  }

  #skipList(depth: number): void {
    const head = this.#byte();
    const count = head >> 4 === 15 ? this.#unsigned() : head >> 4;
    const type = head & 0x0f;
    if (depth > DEPTH_MAX || count > this.#bytes.length) throw new Error('a list is too long');
    for (let at = 0; at < count; at += 1) {
      if (type <= 2) this.#byte();
      else this.#skip(type, depth + 1);
    }
  }
}
