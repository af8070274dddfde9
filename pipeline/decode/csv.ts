// CSV, TSV, PSV and columns of blanks: the head of the file tells delimiter, header and a first guess at
// types; the rest of the file is DuckDB's, which corrects the guess (ingest.ts widens what does not
// fit). The head is read in slices, between which the event loop serves others.
import { join } from 'node:path';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { finished } from 'node:stream/promises';
import { checkPropertyCount, checkPropertyNames } from '../../store/lake/versions/columns.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import { HEAD_BYTES } from '../bytes/content.ts';
import { cutCopy, lastLinesOf, tidyCopy, type Tidying, TIDY_DELIMITER } from './csvCopy.ts';
import { csvParser } from './csvParser.ts';
import {
  bestSplit,
  isAligned,
  namesOf,
  refuseFooter,
  refuseHeader,
  refuseTitles,
  type Rows,
  TITLES_MAX,
  widthOf,
  wordsOf,
} from './csvShape.ts';
import { hasWideLines } from './csvWidth.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import type { TextScan } from '../bytes/encoding.ts';
import { type Inferred, inferType } from '../values/infer.ts';
import { DELIMITERS, type Reading } from '../bytes/reading.ts';
import type { Relation } from '../values/relation.ts';

const GUESSED = [',', '\t', '|', ';'] as const;
/** Rows and characters of the head that tell the delimiter. */
const TELLING_ROWS = 100;
const TELLING_CHARACTERS = 64 * 1024;
/** Rows of the head that are looked at, and cells at most. */
const SAMPLE_ROWS = 10_000;
const SAMPLE_CELLS = 400_000;
/** Characters that are parsed, and cells that are looked at, in one turn of the loop: 10 ms at most. */
const SLICE_CHARACTERS = 16 * 1024;
const SLICE_CELLS = 10_000;
/** Of a text that has nothing to be parsed. */
const PLAIN_CHARACTERS = 128 * 1024;

/** A text that is to be read as CSV. */
interface CsvFile {
  readonly path: string;
  /** In UTF-8. */
  readonly head: Buffer;
  readonly scan: TextScan;
  readonly reading: Reading;
  /** For what must be written again. */
  readonly folder: string;
  readonly dateOrder: DateOrder | undefined;
  /** Properties of the dataset that it goes into, where there is one. */
  readonly known: readonly string[] | undefined;
}

/** @throws Failure InvalidBody in a sentence that says what to add. */
export async function csvRelation(file: CsvFile): Promise<Relation> {
  const { dateOrder, known, reading, scan } = file;
  const text = wholeLines(file.head);
  const opening = openingLines(text, reading);
  const body = opening.text;
  const delimiter = opening.delimiter ?? (await delimiterOf(body));
  const rows = await rowsOf(body, delimiter, SAMPLE_ROWS + 1);
  const first = rows[0] ?? [];
  const trailing = trailingOf(rows);
  const header = trailing === undefined ? first : first.slice(0, trailing - 1);
  checkPropertyCount('the header', header.length);
  const lines = body.split(/\r\n|\n|\r/, TITLES_MAX);
  const headerLines = Number(reading.header ?? 1);
  // A file of known names needs no second look, and a last line that fits no schema is rejected.
  const isKnown = rows[0]?.every((name) => known?.includes(name.trim()) === true) === true;
  if (reading.header === undefined && !isKnown) {
    if (reading.skipLines === undefined && delimiter !== ' ') refuseTitles(rows, lines, delimiter);
    refuseHeader(rows);
  }
  if (reading.skipLast === undefined && known === undefined)
    refuseFooter(await lastLinesOf(file.path), rows, delimiter);
  const given = headerLines === 0 ? header.map(() => '') : header;
  const names = namesOf(given);
  checkPropertyNames('the header', names);
  const notes = headerLines === 0 ? [] : renamed(given, names);
  const padded = header.some((name) => name !== name.trim()) && delimiter !== ' ';
  const blank = header.length === 1 ? /\n\r?\n/.test(body) : /^[ \t]+$/m.test(body);
  const odd = padded || trailing !== undefined || delimiter === ' ' || blank || scan.mixedEnds;
  const tidies = odd || (await hasWideLines(file.path, delimiter, names.length));
  const quotesAbove = text.slice(0, text.length - body.length).includes('"');
  const rewrites = tidies || (quotesAbove && opening.skip > 0);
  const tidying = { delimiter, skip: opening.skip, trims: padded, trailing, width: names.length };
  const path = await copied(file, rewrites ? tidying : undefined);
  const records = rows
    .slice(headerLines)
    .map((row) => (row.length === trailing && row.at(-1) === '' ? row.slice(0, -1) : row));
  const cells = padded ? trimmed(records) : records;
  const columns = await columnsOf(names, cells, dateOrder, reading.nulls);
  const skip = opening.skip + Math.max(0, headerLines - 1);
  return {
    kind: 'csv',
    path,
    columns,
    delimiter: rewrites ? TIDY_DELIMITER : delimiter,
    ...(skip === 0 ? {} : { skip }),
    ...(headerLines === 0 ? { headerless: true } : {}),
    ...(notes.length === 0 ? {} : { notes }),
    ...(records.length === 0 ? { empty: true } : {}),
    ...(scan.hasPlainNumbers ? { hasPlainNumbers: true } : {}),
    ...(reading.nulls === undefined ? {} : { nulls: reading.nulls }),
  };
}

/** The file, or a copy without its last lines, or with its records written again. */
async function copied(
  { folder, path, reading: { skipLast = 0 } }: CsvFile,
  tidying: Tidying | undefined,
): Promise<string> {
  let from = path;
  if (skipLast > 0) {
    from = join(folder, newUuid());
    await cutCopy(path, from, skipLast);
  }
  if (tidying === undefined) return from;
  const tidy = join(folder, newUuid());
  await tidyCopy(from, tidy, tidying);
  return tidy;
}

const trimmed = (rows: Rows): Rows => rows.map((row) => row.map((cell) => cell.trim()));

async function columnsOf(
  names: readonly string[],
  records: Rows,
  order: DateOrder | undefined,
  nulls: Reading['nulls'],
) {
  const most = Math.min(SAMPLE_ROWS, Math.ceil(SAMPLE_CELLS / names.length));
  const sample = records.slice(0, most).filter((row) => row.length === names.length);
  const columns: { readonly name: string; readonly inferred: Inferred }[] = [];
  for (const [index, name] of names.entries()) {
    const values = sample.map((row) => row[index] ?? '');
    columns.push({ name, inferred: inferType(values, order, nulls) });
    if ((index * sample.length) % SLICE_CELLS < sample.length) await othersTurn();
  }
  return columns;
}

/** The text from its header on, how many lines are above it, and the delimiter that was said. */
function openingLines(text: string, { delimiter, skipLines }: Reading) {
  let skip = skipLines ?? 0;
  let rest = text;
  for (let left = skip; left > 0; left -= 1) {
    const line = /^[^\r\n]*(?:\r\n|\n|\r)/.exec(rest)?.[0];
    if (line === undefined) {
      throw new Failure('InvalidBody', `"skipLines" is ${skip}: the body has fewer lines`);
    }
    rest = rest.slice(line.length);
  }
  let said: string | undefined = delimiter === undefined ? undefined : DELIMITERS[delimiter];
  // Excel's own word for the delimiter.
  const sep = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r)/i.exec(rest);
  if (sep !== null) {
    said ??= sep[1];
    rest = rest.slice(sep[0].length);
    skip += 1;
  }
  const above = blankLinesOf(rest);
  return { text: rest.slice(above.characters), skip: skip + above.lines, delimiter: said };
}

/** Blank lines at the beginning of a text; a head may be nothing else. */
function blankLinesOf(text: string) {
  const blank = /[ \t]*(?:\r\n|\n|\r)/y;
  let [lines, characters] = [0, 0];
  while (blank.test(text)) {
    lines += 1;
    characters = blank.lastIndex;
  }
  return { lines, characters };
}

/** What was not taken as it is written. */
function renamed(given: readonly string[], names: readonly string[]): readonly string[] {
  const changed = names.flatMap((name, at) => {
    const before = given[at] ?? '';
    return before.trim() === name ? [] : [`${JSON.stringify(before.slice(0, 100))} is ${name}`];
  });
  return changed.length === 0
    ? []
    : [`the header names columns twice or not: ${changed.join(', ')}`];
}

/** The place of a last cell that is empty because each line ends in a delimiter. */
function trailingOf(rows: Rows): number | undefined {
  const [header = [], ...records] = rows;
  if (records.length === 0 || header.length < 2) return undefined;
  const named = header.at(-1)?.trim() !== '';
  const longer = named ? header.length + 1 : header.length;
  const ends = records.filter((row) => row.length === longer);
  const empty = ends.every((row) => row.at(-1) === '');
  if (!empty) return undefined;
  if (!named) return longer;
  return widthOf(records).width === longer ? longer : undefined;
}

/** Without the last, possibly cut, line and without a byte order mark. */
function wholeLines(head: Buffer): string {
  const text = head.toString('utf8').replace(/^\uFEFF/, '');
  if (head.length < HEAD_BYTES) return text;
  const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
  if (end < 0) throw new Failure('InvalidBody', `the first line is over ${HEAD_BYTES} bytes`);
  return text.slice(0, end + 1);
}

/** The delimiter that splits the lines into most columns; blanks where they stand below each other. */
async function delimiterOf(text: string): Promise<string> {
  const telling = text.slice(0, TELLING_CHARACTERS);
  const splits = [];
  for (const delimiter of GUESSED) {
    splits.push({ delimiter, rows: await tellingRows(telling, delimiter) });
  }
  const best = bestSplit(splits);
  if (best !== undefined) return best.delimiter;
  const cut = telling.length < text.length ? telling.lastIndexOf('\n') : telling.length;
  if (isAligned(telling.slice(0, cut).split(/\r\n|\n|\r/))) return ' ';
  return GUESSED.find((one) => !text.includes(one)) ?? ABSENT_DELIMITER;
}

/** Of a file with one column whose texts have all the usual ones. */
const ABSENT_DELIMITER = '\u001F';

/** First records, line breaks inside quotes and all; nothing where they can't be read. */
async function tellingRows(text: string, delimiter: string): Promise<Rows> {
  try {
    return await parseRows(text, delimiter, TELLING_ROWS, text.length === TELLING_CHARACTERS);
  } catch {
    return [];
  }
}

async function rowsOf(text: string, delimiter: string, most: number): Promise<Rows> {
  if (delimiter !== ' ') return parseRows(text, delimiter, most);
  const lines = text.split(/\r\n|\n|\r/, most);
  return lines.filter((line) => line.trim() !== '').map(wordsOf);
}

/**
 * Up to `most` rows; of a whole head those before what is cut off, such as a quoted cell at its end.
 * @throws Failure InvalidBody where there is none.
 */
async function parseRows(
  text: string,
  delimiter: string,
  most: number,
  isCut = text.length > HEAD_BYTES / 2,
): Promise<Rows> {
  if (isPlain(text, delimiter)) return plainRows(text, delimiter, most);
  const rows: string[][] = [];
  const parser = csvParser(delimiter, { to: most });
  parser.on('data', (row: string[]) => rows.push(row));
  let fault: unknown;
  parser.once('error', (error) => (fault = error));
  for (let at = 0; at < text.length && rows.length < most; at += SLICE_CHARACTERS) {
    if (parser.destroyed) break;
    parser.write(text.slice(at, at + SLICE_CHARACTERS));
    await othersTurn();
  }
  if (!parser.destroyed) {
    parser.end();
    await finished(parser).catch((error: unknown) => (fault = error));
  }
  if (fault === undefined || (isCut && rows.length > 0)) return rows;
  throw new Failure('InvalidBody', `the body is not CSV: ${reasonOf(fault)}`);
}

/** Whether nothing in a text hides a delimiter or the end of a line. */
const isPlain = (text: string, delimiter: string): boolean =>
  /^[ -~\t\u001F]$/.test(delimiter) && !text.includes('"');

/** What the parser makes of such a text, in a twentieth of its time. */
async function plainRows(text: string, delimiter: string, most: number): Promise<Rows> {
  const rows: string[][] = [];
  let turnAt = PLAIN_CHARACTERS;
  for (const { 0: line, index } of text.matchAll(/[^\r\n]+/g)) {
    rows.push(line.split(delimiter));
    if (rows.length >= most) break;
    if (index < turnAt) continue;
    turnAt = index + PLAIN_CHARACTERS;
    await othersTurn();
  }
  return rows;
}
