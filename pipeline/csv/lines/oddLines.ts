// Whether a CSV has lines that DuckDB would read otherwise than they are meant, or that are no records.
// Such a file is written again (tidyCopy.ts); the bytes of any other one are DuckDB's, which reads them
// three times as fast.
import { open } from 'node:fs/promises';
import { roomFor } from '../../bytes/pieces.ts';
import { QuoteScan } from './quoteScan.ts';

/** Read at once, and inspected in one turn of the event loop. */
const PIECE_BYTES = 256 * 1024;
const [TAB, FEED, RETURN, BLANK, QUOTE] = [9, 10, 13, 32, 34] as const;
/** Characters of the header that are searched for. */
const BEGIN_MAX = 200;

interface PlainFile {
  readonly path: string;
  readonly delimiter: string;
  /** Cells of the header. */
  readonly width: number;
  /** Where the first line below the header begins. */
  readonly start: number;
  /** The header up to its first delimiter; empty: there is none. */
  readonly begin: string;
}

export async function hasOddLines(plain: PlainFile): Promise<boolean> {
  const { begin, delimiter, path, start, width } = plain;
  const sign = delimiter.charCodeAt(0);
  if (delimiter.length !== 1 || sign > 127) return true;
  const file = await open(path);
  try {
    const room = await roomFor(file, PIECE_BYTES);
    const quotes = new QuoteScan(sign);
    const needles = needlesOf(begin.slice(0, BEGIN_MAX));
    let before = Math.min(1, start);
    let isBlankEnd = false;
    for (let at = start; ;) {
      // The last line of the piece before is read again with the break above it, so that no line is cut
      // in two.
      const { bytesRead } = await file.read(room, 0, room.length, at - before);
      if (bytesRead <= before) return quotes.isOpen;
      const piece = room.subarray(0, bytesRead);
      if (isBlankEnd && !isAllBlank(piece.subarray(before))) return true;
      const blank = blankAt(piece);
      if (blank >= 0) {
        if (!isAllBlank(piece.subarray(blank))) return true;
        isBlankEnd = true;
      }
      if (hasBlankLine(piece)) return true;
      if (needles.some((needle) => piece.includes(needle))) return true;
      if (hasLongLine(piece, sign, width)) return true;
      if (quotes.isUsed || piece.includes(QUOTE, before)) {
        if (quotes.isOdd(piece.subarray(before))) return true;
      }
      if (bytesRead < room.length) return quotes.isOpen;
      at += bytesRead - before;
      const end = Math.max(piece.lastIndexOf(FEED), piece.lastIndexOf(RETURN));
      // A line that is longer than a piece.
      if (end <= 0) return true;
      before = bytesRead - end;
    }
  } finally {
    await file.close();
  }
}

/** Comments, and lines that begin as the header does. */
const needlesOf = (begin: string): readonly Buffer[] =>
  ['\n', '\r'].flatMap((end) => [
    Buffer.from(`${end}#`),
    ...(begin === '' ? [] : [Buffer.from(`${end}${begin}`)]),
  ]);

/** Where a blank line is; -1: nowhere. */
function blankAt(piece: Buffer): number {
  const found = ['\n\n', '\n\r\n', '\r\r'].map((one) => piece.indexOf(one)).filter((at) => at >= 0);
  return found.length === 0 ? -1 : Math.min(...found);
}

/** A line of blanks alone. */
function hasBlankLine(piece: Buffer): boolean {
  for (const needle of ['\n ', '\n\t', '\r ']) {
    for (let at = piece.indexOf(needle); at >= 0; at = piece.indexOf(needle, at + 1)) {
      let end = at + 1;
      while (piece[end] === BLANK || piece[end] === TAB) end += 1;
      if (end >= piece.length || piece[end] === FEED || piece[end] === RETURN) return true;
    }
  }
  return false;
}

const isAllBlank = (bytes: Buffer): boolean =>
  bytes.every((byte) => byte === FEED || byte === RETURN);

/** A line that ends in a delimiter and has a cell too many, which DuckDB drops. */
function hasLongLine(piece: Buffer, sign: number, width: number): boolean {
  for (const end of [FEED, RETURN]) {
    const needle = Buffer.from([sign, end]);
    for (let at = piece.indexOf(needle); at >= 0; at = piece.indexOf(needle, at + 1)) {
      let cells = 2;
      for (let back = at - 1; back >= 0; back -= 1) {
        const byte = piece[back];
        if (byte === FEED || byte === RETURN) break;
        // Quotes may hide delimiters: the record is then counted by who writes it again.
        if (byte === QUOTE) return true;
        if (byte === sign) cells += 1;
      }
      if (cells > width) return true;
    }
  }
  return false;
}
