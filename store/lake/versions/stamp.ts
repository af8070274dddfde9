// Whose a lake file is, written in the file itself: Parquet key-value metadata, so that files without
// their catalog are not nobody's. DuckDB leaves room for it as it writes; the text comes when the file
// is published, since only then it is known what it belongs to.
import { open } from 'node:fs/promises';
import { Failure } from '../../base/failure.ts';
import { fileName } from './lakeRead.ts';

/** Name of the key-value metadata. */
const STAMP_KEY = 'tapedeck';

/** What a file says of itself. */
export interface Stamp {
  readonly format: 1;
  /** Id of the lake, made with its catalog. */
  readonly lake: string;
  /** Of the run of the program that wrote it. */
  readonly run: string;
  /** The newest snapshot when it was written: a commit that names it is a later one. */
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
  /** Name of the data file whose deleted positions it holds. */
  readonly deletesOf?: string;
  /** What its commit takes out: all of the table's files, or those whose short names are here. */
  readonly replaces?: 'all' | readonly string[] | 'many';
}

/** Bytes of the room: names have at most 128 characters each, and 150 short names fit. */
const ROOM_BYTES = 2_048;
const MARK = 'tapedeck:room';
const ROOM = MARK.padEnd(ROOM_BYTES, ' ');

/** Options of a COPY that leave the room. */
export const STAMP_OPTION = `KV_METADATA {${STAMP_KEY}: '${ROOM}'}`;

/** Behind the footer: its length and the magic bytes. */
const TAIL_BYTES = 8;

/** `ducklake-<uuid>…` by the first ten digits of its uuid: one in 10^12 is another's. */
export const shortName = (name: string): string =>
  fileName(name).replace('ducklake-', '').replaceAll('-', '').slice(0, 10);

/** Writes the stamp into the room of a file that is not published yet. */
export async function stampFile(path: string, footerBytes: number, stamp: Stamp): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const footer = Buffer.alloc(footerBytes);
    const start = size - TAIL_BYTES - footerBytes;
    await file.read(footer, 0, footerBytes, start);
    const at = footer.indexOf(ROOM);
    if (at < 0) throw new Failure('SystemError', 'a lake file has no room for its stamp');
    await file.write(fitted(stamp), 0, ROOM_BYTES, start + at);
  } finally {
    await file.close();
  }
}

function fitted(stamp: Stamp): Buffer {
  const room = Buffer.alloc(ROOM_BYTES, ' ');
  const text = Buffer.from(JSON.stringify(stamp));
  const short = { ...stamp, replaces: 'many' } as const;
  (text.length <= ROOM_BYTES ? text : Buffer.from(JSON.stringify(short))).copy(room);
  return room;
}

const BEGIN = '{"format":1,"lake":';
/** A footer that claims to be longer is no footer of ours. */
const FOOTER_BYTES_MAX = 256 * 1024 ** 2;

/** The stamp in the footer of a Parquet file; undefined where there is none. */
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
    const at = footer.indexOf(BEGIN);
    return at < 0 ? undefined : parsed(footer.toString('utf8', at, at + ROOM_BYTES));
  } finally {
    await file.close();
  }
}

function parsed(text: string): Stamp | undefined {
  try {
    const stamp = JSON.parse(text) as Stamp;
    return typeof stamp.lake === 'string' && typeof stamp.tableId === 'number' ? stamp : undefined;
  } catch {
    return undefined;
  }
}
