// Detects lines of a CSV that DuckDB would misread, or that are not records. Such a file is rewritten
// (tidyCopy.ts); DuckDB reads any other file directly, three times as fast.
import { open } from 'node:fs/promises';
import { allocateBuffer } from '../../bytes/pieces.ts';
import { QuoteScan } from './quoteScan.ts';

/** Bytes read and inspected per turn of the event loop. */
const PIECE_BYTES = 256 * 1024;
const [TAB, FEED, RETURN, BLANK, QUOTE, COMMENT] = [9, 10, 13, 32, 34, 35] as const;
const [CAPITAL_A, CAPITAL_Z] = [65, 90] as const;
/** Characters of the header that are searched for. */
const BEGIN_MAX = 200;

interface PlainFile {
  readonly path: string;
  readonly delimiter: string;
  /** Cells of the header. */
  readonly width: number;
  /** The byte where the first line below the header begins. */
  readonly start: number;
  /** The first name of the header; undefined if there is none. */
  readonly begin: string | undefined;
}

export async function hasOddLines(plain: PlainFile): Promise<boolean> {
  const { begin, delimiter, path, start, width } = plain;
  const sign = delimiter.charCodeAt(0);
  if (delimiter.length !== 1 || sign > 127) return true;
  const name = begin?.slice(0, BEGIN_MAX).toLowerCase();
  const lines = { begin: name === undefined ? undefined : Buffer.from(name), sign, width };
  const file = await open(path);
  try {
    const buffer = await allocateBuffer(file, PIECE_BYTES);
    const quotes = new QuoteScan(sign);
    let before = Math.min(1, start);
    let isBlankEnd = false;
    for (let at = start; ;) {
      // The last line of the previous piece is read again with the break before it, so that no line is
      // split.
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at - before);
      if (bytesRead <= before) return quotes.isOpen;
      const piece = buffer.subarray(0, bytesRead);
      if (isBlankEnd && !isAllBlank(piece.subarray(before))) return true;
      const result = inspect(piece, lines);
      if (result === 'odd') return true;
      isBlankEnd ||= result === 'blank end';
      if (quotes.isUsed || piece.includes(QUOTE, before)) {
        if (quotes.isOdd(piece.subarray(before))) return true;
      }
      if (bytesRead < buffer.length) return quotes.isOpen;
      at += bytesRead - before;
      const end = Math.max(piece.lastIndexOf(FEED), piece.lastIndexOf(RETURN));
      // The line is longer than a piece.
      if (end <= 0) return true;
      before = bytesRead - end;
    }
  } finally {
    await file.close();
  }
}

interface Lines {
  /** The first name of the header in lower case. */
  readonly begin: Buffer | undefined;
  readonly sign: number;
  readonly width: number;
}

/** Inspects the lines of a piece by the bytes around their breaks: 1 M of them take 50 ms. */
function inspect(piece: Buffer, { begin, sign, width }: Lines): 'plain' | 'odd' | 'blank end' {
  const hasReturn = piece.includes(RETURN);
  const end = hasReturn && !piece.includes(FEED) ? RETURN : FEED;
  let from = 0;
  for (let at = piece.indexOf(end); at >= 0; at = piece.indexOf(end, at + 1)) {
    const next = piece[at + 1];
    const last = hasReturn && piece[at - 1] === RETURN ? at - 2 : at - 1;
    // A line that ends in a delimiter and has an extra cell, which DuckDB drops.
    if (piece[last] === sign && !hasCells(piece, from, last, sign, width)) return 'odd';
    from = at + 1;
    if (next === COMMENT) return 'odd';
    if (begin !== undefined && startsWith(piece, from, begin, sign)) return 'odd';
    if (next === FEED || next === RETURN) {
      return isAllBlank(piece.subarray(at)) ? 'blank end' : 'odd';
    }
    if ((next === BLANK || next === TAB) && isBlankLine(piece, from)) return 'odd';
  }
  return 'plain';
}

/** Whether the first cell of a line is the name, in any case and with any blanks around it. */
function startsWith(piece: Buffer, from: number, name: Buffer, sign: number): boolean {
  let at = from;
  while (piece[at] === BLANK || (piece[at] === TAB && sign !== TAB)) at += 1;
  for (const byte of name) {
    if (!isSameLetter(piece[at] ?? 0, byte)) return false;
    at += 1;
  }
  // The rest of a name that is cut off is not compared.
  if (name.length >= BEGIN_MAX) return true;
  while (piece[at] === BLANK || (piece[at] === TAB && sign !== TAB)) at += 1;
  const end = piece[at];
  return end === undefined || end === sign || end === FEED || end === RETURN;
}

/** Letters outside ASCII are not compared: the case of some has another number of bytes. */
const isSameLetter = (byte: number, lower: number): boolean =>
  byte === lower ||
  (byte >= CAPITAL_A && byte <= CAPITAL_Z && byte + 32 === lower) ||
  (byte > 127 && lower > 127);

/** Whether a line has at most `width` cells, the last of which is empty. */
function hasCells(piece: Buffer, from: number, last: number, sign: number, width: number): boolean {
  let cells = 2;
  for (let at = from; at < last; at += 1) {
    const byte = piece[at];
    // Quotes may hide delimiters: the record is then counted by the rewrite.
    if (byte === QUOTE) return false;
    if (byte === sign) cells += 1;
  }
  return cells <= width;
}

/** Whether a line has only blanks, or is cut off within its first blanks. */
function isBlankLine(piece: Buffer, from: number): boolean {
  let end = from;
  while (piece[end] === BLANK || piece[end] === TAB) end += 1;
  return end >= piece.length || piece[end] === FEED || piece[end] === RETURN;
}

const isAllBlank = (bytes: Buffer): boolean =>
  bytes.every((byte) => byte === FEED || byte === RETURN);
