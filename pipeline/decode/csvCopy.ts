// A CSV written again where DuckDB could not read it as it is meant: records stay as they are, in their
// order, and what stands around them goes.
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, open, truncate } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure, reasonOf, toldFull } from '../../store/base/failure.ts';
import { csvParser } from './csvParser.ts';
import { wordsOf } from './csvShape.ts';

/** Characters of one record that is written again. */
const RECORD_CHARACTERS_MAX = 1024 ** 2;
/** Bytes at the end of a file that are looked through for its last lines. */
const TAIL_BYTES = 256 * 1024;

/** How records are written again. */
export interface Tidying {
  readonly delimiter: string;
  /** Lines above the header: they stay as lines, so that all others keep their numbers. */
  readonly skip: number;
  /** Blanks around cells go. */
  readonly trims: boolean;
  /** An empty cell in this place at the end of a record goes; undefined: none does. */
  readonly trailing: number | undefined;
  /** Cells of the header: of a wider record only the first one too many stays, for which it is rejected. */
  readonly width: number;
}

/** The delimiter of what is written. */
export const TIDY_DELIMITER = ',';

/** @throws Failure InvalidBody for a record that can not be read. */
export async function tidyCopy(from: string, to: string, tidying: Tidying): Promise<void> {
  const rows = tidying.delimiter === ' ' ? alignedRows(from, tidying) : parsedRows(from, tidying);
  try {
    await pipeline(Readable.from(textOf(rows, tidying)), createWriteStream(to, { mode: 0o600 }));
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (error instanceof Error && /^CSV_/.test(String(Reflect.get(error, 'code')))) {
      throw new Failure('InvalidBody', `the body is not CSV: ${reasonOf(error)}`);
    }
    throw toldFull(error);
  }
}

const QUOTED = /[",\r\n]|^\s|\s$/;
/** Read at once, and made rows in one turn of the loop: 10 ms where a record is 5 bytes. */
const PIECE_BYTES = 16 * 1024;
/** Characters that are written at once. */
const PIECE_CHARACTERS = 64 * 1024;

async function* textOf(rows: AsyncIterable<readonly string[]>, tidying: Tidying) {
  let text = '-\n'.repeat(tidying.skip);
  for await (const row of rows) {
    const ends = tidying.trailing === row.length && row.at(-1) === '';
    const cells = row.slice(0, ends ? -1 : tidying.width + 1);
    if (cells.length === 1 && cells[0]?.trim() === '') continue;
    const told = cells.map((cell) =>
      QUOTED.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell,
    );
    text += `${told.join(TIDY_DELIMITER)}\n`;
    if (text.length < PIECE_CHARACTERS) continue;
    yield text;
    text = '';
  }
  yield text;
}

async function* parsedRows(path: string, tidying: Tidying): AsyncGenerator<readonly string[]> {
  const parser = csvParser(tidying.delimiter, {
    bom: true,
    trim: tidying.trims,
    max_record_size: RECORD_CHARACTERS_MAX,
  });
  const start = await startOf(path, tidying.skip);
  const source = createReadStream(path, { start, highWaterMark: PIECE_BYTES });
  source.once('error', (error) => parser.destroy(error));
  for await (const row of source.pipe(parser)) yield row as string[];
}

async function* alignedRows(path: string, { skip }: Tidying): AsyncGenerator<readonly string[]> {
  const input = createReadStream(path, { start: await startOf(path, skip) });
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line.trim() !== '') yield wordsOf(line.replace(/^\uFEFF/, ''));
  }
}

/** Where the line after the first ones begins. They are in the head, so a piece of it will do. */
async function startOf(path: string, skip: number): Promise<number> {
  if (skip === 0) return 0;
  let [lines, at] = [0, 0];
  let wasReturn = false;
  for await (const piece of createReadStream(path)) {
    for (const byte of piece as Buffer) {
      if (lines === skip && !(wasReturn && byte === 10)) return at;
      if (byte === 13 || (byte === 10 && !wasReturn)) lines += 1;
      wasReturn = byte === 13;
      at += 1;
    }
  }
  return at;
}

/** The last lines of a file, without blank ones at its end; at most those of its last bytes. */
export async function lastLinesOf(path: string): Promise<readonly string[]> {
  const { text } = await tailOf(path);
  return Buffer.from(text, 'latin1')
    .toString('utf8')
    .split(/\r\n|\n|\r/);
}

async function tailOf(path: string): Promise<{ readonly text: string; readonly from: number }> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    return { text: withoutBlanks(buffer.toString('latin1', 0, bytesRead)), from };
  } finally {
    await file.close();
  }
}

/** Without the end of its last line, and blank lines after it. */
function withoutBlanks(text: string): string {
  let end = text.length;
  for (let at = end - 1; at >= 0 && ' \t\r\n'.includes(text[at] ?? ''); at -= 1) {
    if (text[at] === '\n' || text[at] === '\r') end = at;
  }
  return text.slice(0, end);
}

/** The file without its last lines that are not blank. @throws Failure when they are not all there. */
export async function cutCopy(from: string, to: string, lines: number): Promise<void> {
  const tail = await tailOf(from);
  let { text } = tail;
  for (let left = lines; left > 0; left -= 1) {
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
    if (end < 0) {
      throw new Failure(
        'InvalidBody',
        `"skipLast" is ${lines}: the body has fewer lines at its end`,
      );
    }
    text = text.slice(0, end + 1);
    if (left > 1) text = withoutBlanks(text);
  }
  try {
    await copyFile(from, to);
    await truncate(to, tail.from + text.length);
  } catch (error) {
    throw toldFull(error);
  }
}
