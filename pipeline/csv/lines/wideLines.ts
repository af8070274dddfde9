// Detects lines of a CSV with many more cells than its header. DuckDB 1.5 creates an error for each extra
// cell, each with a copy of its line: one line of 1 MB took it over five minutes, 2 MB of lines of 1,000
// cells 4 GB.
import { readPieces } from '../../bytes/pieces.ts';

/** Bytes read and inspected per turn of the event loop. */
const PIECE_BYTES = 256 * 1024;
/** Extra cells that DuckDB may handle: they cost it 1 kB each. */
const EXCESS_MAX = 100;
const [BREAK, RETURN, QUOTE] = [10, 13, 34] as const;

/** @param width cells of the header */
export async function hasWideLines(
  path: string,
  delimiter: string,
  width: number,
): Promise<boolean> {
  const sign = delimiter.charCodeAt(0);
  // Delimiters of several bytes are left to DuckDB.
  if (delimiter.length !== 1 || sign > 127) return false;
  const most = width + EXCESS_MAX;
  let line: Counted = { cells: 1, isQuoted: false };
  for await (const piece of readPieces(path, PIECE_BYTES)) {
    const counted = countLastLine(piece, sign, most, line);
    if (counted === undefined) return true;
    line = counted;
  }
  return false;
}

/** The state of a partly read line. */
interface Counted {
  readonly cells: number;
  readonly isQuoted: boolean;
}

const EMPTY_LINE: Counted = { cells: 1, isQuoted: false };

/**
 * Counts the cells of the line that a piece ends in; undefined if a line of the piece has over `most` cells.
 * Lines too short for that are not counted.
 */
function countLastLine(
  piece: Buffer,
  sign: number,
  most: number,
  before: Counted,
): Counted | undefined {
  const end = piece.includes(BREAK) ? BREAK : RETURN;
  const isWide = ({ cells }: Counted): boolean => cells > most;
  const first = piece.indexOf(end);
  let last = countCells(piece, 0, first < 0 ? piece.length : first, sign, before);
  for (let from = first + 1; from > 0 && !isWide(last);) {
    // Short lines are skipped together: all that end within the least length of a long one.
    const short = piece.lastIndexOf(end, from + most - 1);
    if (short >= from) {
      from = short + 1;
      continue;
    }
    const at = piece.indexOf(end, from + most);
    last = countCells(piece, from, at < 0 ? piece.length : at, sign, EMPTY_LINE);
    from = at + 1;
  }
  return isWide(last) ? undefined : last;
}

function countCells(
  piece: Buffer,
  from: number,
  to: number,
  sign: number,
  before: Counted,
): Counted {
  let { cells, isQuoted } = before;
  for (let at = from; at < to; at += 1) {
    const byte = piece[at];
    if (byte === QUOTE) isQuoted = !isQuoted;
    else if (byte === sign && !isQuoted) cells += 1;
  }
  return { cells, isQuoted };
}
