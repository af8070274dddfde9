// Decompresses bodies to a temporary file, up to a limit: a decompression bomb ends at a ratio, not at a
// full disk.
import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { type Entry, openPromise } from 'yauzl';
import { Failure, isDiskFull, toDiskFullFailure } from '../../store/base/failure.ts';
import { NoDataFailure } from './noData.ts';

export type Packing = 'gzip' | 'zstd' | 'zip';

/** Deflate can't beat about 1,032:1; text and Parquet stay far below this. */
const RATIO_MAX = 200;
/** Small files may decompress to this size regardless of their ratio. */
const FREE_BYTES = 64 * 1024 ** 2;

/** Bytes that a file of this size may have after decompression or decoding. */
export const expandedMax = (bytes: number): number => Math.max(FREE_BYTES, bytes * RATIO_MAX);

/**
 * Decompresses one file; a zip must contain exactly one.
 * @throws Failure InvalidBody for a damaged file, TooLarge for one that expands beyond the limit.
 */
export async function unpack(packing: Packing, from: string, to: string): Promise<void> {
  const most = expandedMax((await stat(from)).size);
  try {
    if (packing === 'zip') {
      await unpackZip(from, to, most);
      return;
    }
    const inflate = packing === 'gzip' ? createGunzip() : createZstdDecompress();
    const limit = limited(packing, most);
    await pipeline(createReadStream(from), inflate, limit, createWriteStream(to));
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (isDiskFull(error)) throw toDiskFullFailure(error);
    throw new Failure('InvalidBody', `the ${packing} body is damaged or cut short`);
  }
}

function limited(packing: Packing, most: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= most) return done(null, chunk);
      done(new Failure('TooLarge', `the ${packing} body unpacks to over ${most} bytes`));
    },
  });
}

/** A workbook or a document is a zip of many files, with one of these among the first. */
const OFFICE_ENTRY = /^(?:\[Content_Types\]\.xml|(?:xl|word|ppt)\/.*|mimetype)$/;
const OFFICE = 'an office file (such as xlsx): export it as CSV';
/** Entries that macOS adds. */
const MACOS_ENTRY = /^__MACOSX\/|(?:^|\/)\.DS_Store$/;
/** Entries of a zip that are inspected. */
const ENTRIES_MAX = 20;

/** Signature and bytes of the record that ends a zip; its last two bytes are the length of a comment. */
const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;

/** False if another end follows the directory at `at`, as in two zip files that were joined. */
async function endsFile(path: string, at: number): Promise<boolean> {
  await using file = await open(path);
  const end = Buffer.alloc(END_BYTES);
  const { bytesRead } = await file.read(end, 0, END_BYTES, at);
  // The larger form of the end has another signature, and is followed by this one.
  if (bytesRead < END_BYTES || end.readUInt32LE(0) !== END_SIGNATURE) return true;
  const { size } = await file.stat();
  return at + END_BYTES + end.readUInt16LE(END_BYTES - 2) === size;
}

async function unpackZip(from: string, to: string, most: number): Promise<void> {
  const zip = await openPromise(from, { lazyEntries: true, autoClose: false });
  try {
    const entries: Entry[] = [];
    for await (const entry of zip.eachEntry()) {
      const { fileName } = entry;
      if (OFFICE_ENTRY.test(fileName)) throw new NoDataFailure(OFFICE);
      if (fileName.endsWith('/') || MACOS_ENTRY.test(fileName)) continue;
      entries.push(entry);
      if (entries.length > ENTRIES_MAX) break;
    }
    const [entry] = entries;
    if (entry === undefined || entries.length !== 1) {
      throw new Failure('InvalidBody', 'a zip body must hold exactly one file');
    }
    if (!(await endsFile(from, Number(zip.readEntryCursor)))) {
      throw new Failure('InvalidBody', 'the zip body has bytes behind its end: send one zip file');
    }
    // An opened entry may fail at any moment: attach its listener before any await.
    const source = await zip.openReadStreamPromise(entry);
    await pipeline(source, limited('zip', most), createWriteStream(to));
  } finally {
    zip.close();
  }
}
