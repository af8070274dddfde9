// Whether lines of a CSV have many more cells than its header. DuckDB 1.5 makes an error for each cell too
// many, each with a copy of its line: one line of 1 MB took it over five minutes, 2 MB of lines of 1,000
// cells 4 GB.
import { piecesOf } from '../../bytes/pieces.ts';

/** Read at once, and looked at in one turn of the loop. */
const PIECE_BYTES = 256 * 1024;
/** Cells too many that are left to DuckDB: they cost it 1 kB each. */
const EXCESS_MAX = 100;
const [BREAK, RETURN, QUOTE] = [10, 13, 34] as const;

/** @param width cells of the header */
export async function hasWideLines(
  path: string,
  delimiter: string,
  width: number,
): Promise<boolean> {
  const sign = delimiter.charCodeAt(0);
  // Signs that are not of one byte are left to DuckDB.
  if (delimiter.length !== 1 || sign > 127) return false;
  const most = width + EXCESS_MAX;
  let line: Counted = { cells: 1, isQuoted: false };
  for await (const piece of piecesOf(path, PIECE_BYTES)) {
    const counted = lastLineOf(piece, sign, most, line);
    if (counted === undefined) return true;
    line = counted;
  }
  return false;
}

/** Of a line so far. */
interface Counted {
  readonly cells: number;
  readonly isQuoted: boolean;
}

const NOTHING: Counted = { cells: 1, isQuoted: false };

/**
 * The line that a piece ends in; undefined when one of the piece has over `most` cells. Lines that are too
 * short for that are not counted.
 */
function lastLineOf(
  piece: Buffer,
  sign: number,
  most: number,
  before: Counted,
): Counted | undefined {
  const end = piece.includes(BREAK) ? BREAK : RETURN;
  const isWide = ({ cells }: Counted): boolean => cells > most;
  const first = piece.indexOf(end);
  let last = countedOn(piece, 0, first < 0 ? piece.length : first, sign, before);
  for (let from = first + 1; from > 0 && !isWide(last);) {
    // Short lines are passed over together: all that end within the least length of a long one.
    const short = piece.lastIndexOf(end, from + most - 1);
    if (short >= from) {
      from = short + 1;
      continue;
    }
    const at = piece.indexOf(end, from + most);
    last = countedOn(piece, from, at < 0 ? piece.length : at, sign, NOTHING);
    from = at + 1;
  }
  return isWide(last) ? undefined : last;
}

function countedOn(
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
