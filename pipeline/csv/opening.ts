// Parses the lines above the header of a CSV: skipped lines, Excel's `sep=` line, blank lines, comments.
import { Failure } from '../../store/base/failure.ts';
import { DELIMITERS, type Reading } from '../bytes/reading.ts';
import { COMMENTED, LineList } from './lines/lineList.ts';
import { detectKind } from './shape.ts';

/** Signs that may begin a comment. */
const COMMENTS = ['#', '//', '%', ';', '--'] as const;

export interface Opening {
  /** The text from its header on. */
  readonly text: string;
  /** Lines above it. */
  readonly skip: number;
  /** The declared delimiter, or the one written in the file. */
  readonly delimiter: string | undefined;
  /** The mark of comments; undefined: `#`, where such a line is not a record. */
  readonly comment: string | undefined;
  readonly notes: readonly string[];
}

/** @param delimiterOf detects the delimiter of a text, if the file does not declare it */
export async function parseOpening(
  text: string,
  { delimiter, skipLines = 0 }: Reading,
  delimiterOf: (text: string) => Promise<string>,
): Promise<Opening> {
  let skip = skipLines;
  let rest = text;
  for (let left = skip; left > 0; left -= 1) {
    const line = firstLine(rest);
    if (line === '') {
      throw new Failure('InvalidBody', `"skipLines" is ${skip}: the body has fewer lines`);
    }
    rest = rest.slice(line.length);
  }
  let own: string | undefined = delimiter === undefined ? undefined : DELIMITERS[delimiter];
  const sep = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r)/i.exec(rest);
  if (sep !== null) {
    own ??= sep[1];
    rest = rest.slice(sep[0].length);
    skip += 1;
  }
  const above = blankLines(rest);
  rest = rest.slice(above.characters);
  skip += above.lines;
  const sign = COMMENTS.find((one) => one !== own && rest.startsWith(one));
  const block = sign === undefined ? undefined : await findComments(rest, sign, own, delimiterOf);
  if (block === undefined)
    return { text: rest, skip, delimiter: own, comment: undefined, notes: [] };
  const list = new LineList();
  for (const line of block.comments) list.add(skip + line);
  return {
    text: rest.slice(block.characters),
    skip: skip + block.lines,
    delimiter: own,
    comment: sign,
    notes: list.note(...COMMENTED),
  };
}

/** The first line with its break; empty at the end of the text. */
const firstLine = (text: string): string => /^[^\r\n]*(?:\r\n|\n|\r)/.exec(text)?.[0] ?? '';

/** Counts blank lines at the beginning of a text; a head may have nothing else. */
function blankLines(text: string) {
  const blank = /[ \t]*(?:\r\n|\n|\r)/y;
  let [lines, characters] = [0, 0];
  while (blank.test(text)) {
    lines += 1;
    characters = blank.lastIndex;
  }
  return { lines, characters };
}

/** Lines of a block that are searched. */
const BLOCK_LINES_MAX = 1_000;

/**
 * Finds comments at the beginning of a text, with blank lines between them; undefined if they may be
 * something else.
 */
async function findComments(
  text: string,
  sign: string,
  declared: string | undefined,
  delimiterOf: (text: string) => Promise<string>,
) {
  const lines: string[] = [];
  let characters = 0;
  let line = firstLine(text);
  while (line !== '' && lines.length < BLOCK_LINES_MAX) {
    if (line.trim() !== '' && !line.startsWith(sign)) break;
    lines.push(line);
    characters += line.length;
    line = firstLine(text.slice(characters, characters + BLOCK_CHARACTERS));
  }
  const below = text.slice(characters);
  if (below === '' || lines.length === BLOCK_LINES_MAX) return undefined;
  const delimiter = declared ?? (await delimiterOf(below));
  if (delimiter.startsWith(sign)) return undefined;
  const splitCells = (one: string): readonly string[] => one.trim().split(delimiter);
  const width = splitCells(/^[^\r\n]*/.exec(below)?.[0] ?? '').length;
  const next = splitCells(/^[^\r\n]*/.exec(below)?.[0] ?? '');
  const isNames = next.every((cell) => detectKind([cell.replace(/^"|"$/g, '').trim()]) === 'text');
  const last = lines.findLastIndex((one) => one.trim() !== '');
  const alike = (one: string): boolean => splitCells(one).length === width;
  // `#symbol,date,price` above records is their header.
  const isHeader = last >= 0 && !isNames && (width > 1 ? alike(lines[last] ?? '') : false);
  const commentLines = isHeader ? lines.slice(0, last) : lines;
  const comments = commentLines.flatMap((one, at) => (one.trim() === '' ? [] : [at + 1]));
  if (comments.length === 0) return undefined;
  const written = commentLines.filter((one) => one.trim() !== '');
  const isClear = written.every((one) => /^\s/.test(one.slice(sign.length)) || !alike(one));
  if (sign !== '#' && !(isClear && width > 1)) return undefined;
  // In one column a line with this mark is a value, unless the next line is a name above other values.
  if (width === 1 && !isNames) return undefined;
  return { lines: commentLines.length, characters: commentLines.join('').length, comments };
}

/** Characters of a line that are enough to detect a comment; a longer line is not one. */
const BLOCK_CHARACTERS = 64 * 1024;
