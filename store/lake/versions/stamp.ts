// Stamps lake files with their owner in Parquet key-value metadata, so that files without their catalog can
// be identified. DuckDB reserves room while it writes; the text is filled in when the file is published,
// since only then its place is known.
import { open } from 'node:fs/promises';
import { Failure } from '../../base/failure.ts';
import { fileName } from './lakeRead.ts';

/** Name of the key-value metadata. */
const STAMP_KEY = 'tapedeck';

/** Identity of a file. */
export interface Stamp {
  readonly format: 1;
  /** Id of the lake, created with its catalog. */
  readonly lake: string;
  /** Run of the program that wrote it. */
  readonly run: string;
  /** Latest snapshot when it was written: a commit that references it is later. */
  readonly snapshot: number;
  /** Epoch milliseconds; with `snapshot` it orders the files of a table. */
  readonly writtenMs: number;
  readonly tableId: number;
  readonly workspace: string;
  readonly dataset: string;
  /** The unique index, as property names. */
  readonly key?: string;
  readonly subkey?: string;
  readonly date?: string;
  /** Data file whose deleted positions it contains. */
  readonly deletesOf?: string;
  /** Files that its commit removes: all of the table's, or those with these short names. */
  readonly replaces?: 'all' | readonly string[] | 'many';
}

/** Reserved bytes: names have at most 128 characters each, and 150 short names fit. */
const RESERVED_BYTES = 2_048;
const MARK = 'tapedeck:room';
const RESERVED = MARK.padEnd(RESERVED_BYTES, ' ');

/** Option of a COPY that reserves the room. */
export const STAMP_OPTION = `KV_METADATA {${STAMP_KEY}: '${RESERVED}'}`;

/** Bytes after the footer: its length and the magic bytes. */
const TAIL_BYTES = 8;

/** Shortens `ducklake-<uuid>…` to the first ten digits of its uuid: one in 10^12 collides. */
export const shortName = (name: string): string =>
  fileName(name).replace('ducklake-', '').replaceAll('-', '').slice(0, 10);

/** Writes the stamp into the reserved room of an unpublished file. */
export async function stampFile(path: string, footerBytes: number, stamp: Stamp): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const footer = Buffer.alloc(footerBytes);
    const start = size - TAIL_BYTES - footerBytes;
    await file.read(footer, 0, footerBytes, start);
    const at = footer.indexOf(RESERVED);
    if (at < 0) throw new Failure('SystemError', 'a lake file has no room for its stamp');
    await file.write(fitStamp(stamp), 0, RESERVED_BYTES, start + at);
  } finally {
    await file.close();
  }
}

function fitStamp(stamp: Stamp): Buffer {
  const reserved = Buffer.alloc(RESERVED_BYTES, ' ');
  const text = Buffer.from(JSON.stringify(stamp));
  const short = { ...stamp, replaces: 'many' } as const;
  (text.length <= RESERVED_BYTES ? text : Buffer.from(JSON.stringify(short))).copy(reserved);
  return reserved;
}

const STAMP_BEGIN = '{"format":1,"lake":';
/** Limit of a footer of this program; longer ones are foreign. */
const FOOTER_BYTES_MAX = 256 * 1024 ** 2;

/** Reads the stamp in the footer of a Parquet file; undefined when there is none. */
export async function readStamp(path: string): Promise<Stamp | undefined> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size < 2 * TAIL_BYTES) return undefined;
    const tail = Buffer.alloc(TAIL_BYTES);
    await file.read(tail, 0, TAIL_BYTES, size - TAIL_BYTES);
    const bytes = tail.readUInt32LE(0);
    if (tail.toString('latin1', 4) !== 'PAR1' || bytes > Math.min(size, FOOTER_BYTES_MAX)) return;
    const footer = Buffer.alloc(bytes);
    await file.read(footer, 0, bytes, size - TAIL_BYTES - bytes);
    const at = footer.indexOf(STAMP_BEGIN);
    return at < 0 ? undefined : parseStamp(footer.toString('utf8', at, at + RESERVED_BYTES));
  } finally {
    await file.close();
  }
}

function parseStamp(text: string): Stamp | undefined {
  try {
    const stamp = JSON.parse(text) as Stamp;
    return typeof stamp.lake === 'string' && typeof stamp.tableId === 'number' ? stamp : undefined;
  } catch {
    return undefined;
  }
}
