// CSV, TSV, PSV and columns of blanks: the head of the file determines delimiter, header and a first guess at
// types; DuckDB reads the rest of the file, which corrects the guess (ingest.ts widens types that do not
// fit). If the reading of a file is ambiguous, hints are applied one after the other, and the refusal names a
// combination that was tried.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  checkPropertyCount,
  checkPropertyNames,
  type PropertyType,
} from '../../store/lake/versions/columns.ts';
import { Failure } from '../../store/base/failure.ts';
import { newUuid } from '../../store/base/random.ts';
import { HEAD_BYTES } from '../bytes/content.ts';
import { quoteExcerpt } from '../bytes/excerpt.ts';
import type { TextScan } from '../bytes/encoding.ts';
import { ESCAPES, QUOTES, type Reading } from '../bytes/reading.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import type { Relation } from '../values/relation.ts';
import {
  type Ambiguity,
  findFooter,
  findHeaderLines,
  findRecord,
  findTitles,
} from './ambiguities.ts';
import { inferColumns, detectPadding, findTypedColumns } from './columns.ts';
import { printHint } from './hints.ts';
import { joinHeader, toColumnNames } from './names.ts';
import { findHeaderRow, type HeaderRow, isLikeHeader, repeatsHeader } from './lines/headerRows.ts';
import { hasOddLines } from './lines/oddLines.ts';
import { type Opening, parseOpening } from './opening.ts';
import { findQuoting } from './quoting.ts';
import type { CsvRecord, Dialect } from './lines/records.ts';
import { detectDelimiter, sampleRecords } from './sample.ts';
import { type Rows, commonWidth, endEmpty } from './shape.ts';
import { findLineStart } from './lines/lineStart.ts';
import { copyWithoutLast, readLastLines } from './lines/tail.ts';
import { TIDY_DELIMITER, tidyCopy, type TidyFile } from './lines/tidyCopy.ts';
import { hasWideLines } from './lines/wideLines.ts';

/** Records of the head that are inspected. */
const SAMPLE_RECORDS = 10_000;
/** Characters of the header in which the first name is searched. */
const HEADER_CHARACTERS = 1_000;
/** Maximum readings that are tried of one file, each with the hint that the one before it produced. */
const READINGS_MAX = 6;

/** A text to read as CSV. */
interface CsvFile {
  readonly path: string;
  /** In UTF-8. */
  readonly head: Buffer;
  readonly scan: TextScan;
  readonly reading: Reading;
  /** Folder for rewritten files. */
  readonly folder: string;
  readonly dateOrder: DateOrder | undefined;
  /** Properties of the dataset of the load, if it exists. */
  readonly propertyNames: readonly string[] | undefined;
}

/** @throws Failure InvalidBody with the options to add. */
export async function csvRelation(file: CsvFile): Promise<Relation> {
  const tried = await tryReadings(file);
  const [first, ...more] = tried.complaints;
  if (first === undefined && tried.relation !== undefined) return tried.relation;
  const why = [...new Set(tried.complaints.map((one) => one.why))].join('; ');
  const otherwise = tried.second ?? (more.length > 0 ? '' : await describeAlternative(file, first));
  throw new Failure('InvalidBody', `${why}; pass ${printHint(tried.reading)}${otherwise}`);
}

/** The options to add if the file is as it looks, if they produce records. */
async function describeAlternative(
  file: CsvFile,
  complaint: Ambiguity | undefined,
): Promise<string> {
  if (complaint?.otherwise === undefined) return '';
  const { add, when } = complaint.otherwise;
  const tried = await tryReadings({ ...file, reading: { ...file.reading, ...add } });
  if (tried.relation === undefined || tried.relation.empty === true) return '';
  return `, or ${printHint(tried.reading)} ${when}`;
}

interface Tried {
  readonly complaints: readonly Ambiguity[];
  /** The reading with all hints of the complaints. */
  readonly reading: Reading;
  readonly relation?: Relation;
  /** How to load another table of the file, as the end of a sentence. */
  readonly second?: string;
}

async function tryReadings(file: CsvFile): Promise<Tried> {
  const complaints: Ambiguity[] = [];
  let { reading } = file;
  let second: string | undefined;
  while (complaints.length < READINGS_MAX) {
    let outcome: Outcome;
    try {
      outcome = await readOnce({ ...file, reading });
    } catch (error) {
      if (complaints.length === 0) throw error;
      break;
    }
    if ('relation' in outcome) {
      return { complaints, reading, relation: outcome.relation, ...(second && { second }) };
    }
    complaints.push(outcome);
    if (outcome.secondLine !== undefined && second === undefined) {
      const { skipLast } = file.reading;
      const { header: _, ...rest } = reading;
      const last = skipLast === undefined ? {} : { skipLast };
      const { skipLast: __, ...others } = rest;
      const other = { ...others, ...last, skipLines: outcome.secondLine - 1 };
      const tried = await tryReadings({ ...file, reading: other });
      second = ` for the first table, or ${printHint(tried.reading)} for the second`;
    }
    reading = { ...reading, ...outcome.add };
  }
  return { complaints, reading, ...(second && { second }) };
}

type Outcome = { readonly relation: Relation } | (Ambiguity & { readonly secondLine?: number });

/** The parsed head of a file. */
interface Head {
  readonly opening: Opening;
  readonly text: string;
  readonly dialect: Dialect;
  /** From the header on, blank lines and comments too. */
  readonly records: readonly CsvRecord[];
}

async function readOnce(original: CsvFile): Promise<Outcome> {
  const file = await withoutLast(original);
  const head = await parseHead(file);
  const { propertyNames, reading } = file;
  const { dialect } = head;
  const rows = head.records.filter(
    ({ cells, comment }) => cells.length > 0 && comment === undefined,
  );
  const names = rows[0]?.cells ?? [];
  // A file with known names needs no further check, and a last line that fits no schema is rejected.
  const isKnown =
    names.length > 0 && names.every((name) => propertyNames?.includes(name.trim()) === true);
  const quoting = isKnown ? undefined : await findQuoting(head.opening.text, dialect, reading);
  if (quoting !== undefined) return quoting;
  if (reading.header === undefined && !isKnown) {
    const whole = rows.filter(({ fault }) => fault === undefined);
    const complaint = findTitles(whole) ?? findRecord(whole) ?? findHeaderLines(whole);
    if (complaint !== undefined) return complaint;
  }
  if (reading.skipLast === undefined && propertyNames === undefined && dialect.delimiter !== ' ') {
    const footer = findFooter(await readLastLines(file.path), rows, dialect.delimiter);
    if (footer !== undefined) return footer;
  }
  return toRelation(file, head, rows);
}

/** The file without its last lines, if they are skipped. */
async function withoutLast(file: CsvFile): Promise<CsvFile> {
  const { skipLast = 0 } = file.reading;
  if (skipLast === 0) return file;
  const path = join(file.folder, newUuid());
  await copyWithoutLast(file.path, path, skipLast);
  const { size } = await stat(path);
  return { ...file, path, head: file.head.subarray(0, Math.min(size, file.head.length)) };
}

async function parseHead({ head, reading }: CsvFile): Promise<Head> {
  const text = wholeLines(head);
  const quote = QUOTES[reading.quote ?? 'double'];
  const escape = reading.escape === ESCAPES[1] ? '\\' : quote;
  const quoting = { quote, escape, trims: false, spaced: false };
  const opening = await parseOpening(text, reading, (below) => detectDelimiter(below, quoting));
  const delimiter = opening.delimiter ?? (await detectDelimiter(opening.text, quoting));
  const isCut = head.length >= HEAD_BYTES;
  const sampled = async (dialect: Dialect): Promise<readonly CsvRecord[]> =>
    sampleRecords(opening.text, {
      dialect,
      isCut,
      line: opening.skip + 1,
      most: SAMPLE_RECORDS,
      comment: opening.comment ?? (delimiter === '#' ? undefined : '#'),
    });
  const plain = { ...quoting, delimiter };
  const records = await sampled(plain);
  const dialect = detectPadding(records, opening.text, plain);
  return {
    opening,
    text,
    dialect,
    records: dialect === plain ? records : await sampled(dialect),
  };
}

/** Text without the last, possibly truncated, line and without a byte order mark. */
function wholeLines(head: Buffer): string {
  const text = head.toString('utf8').replace(/^\uFEFF/, '');
  if (head.length < HEAD_BYTES) return text;
  const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
  if (end < 0) throw new Failure('InvalidBody', `the first line is over ${HEAD_BYTES} bytes`);
  return text.slice(0, end + 1);
}

/** The layout that the header of a file determines. */
interface Layout {
  readonly names: readonly string[];
  /** As the file spells it; undefined if it has none. */
  readonly header: readonly string[] | undefined;
  readonly trailing: number | undefined;
  /** The line below the header. */
  readonly line: number;
  readonly notes: readonly string[];
  readonly hasBreaks: boolean;
}

function parseLayout(rows: readonly CsvRecord[], { header }: Reading, skip: number): Layout {
  const lines = Number(header ?? 1);
  const cells = rows.map((row) => row.cells);
  const trailing = findTrailing(cells);
  const own = (row: readonly string[] = []): readonly string[] =>
    trailing !== undefined && row.length === trailing ? row.slice(0, -1) : row;
  const first = own(cells[0]);
  checkPropertyCount('the header', first.length);
  if (lines === 0) {
    const names = toColumnNames(first.map(() => ''));
    return { names, header: undefined, trailing, line: skip + 1, notes: [], hasBreaks: false };
  }
  const joined = joinHeader(cells.slice(0, lines).map(own));
  const names = toColumnNames(joined.header);
  checkPropertyNames('the header', names);
  const last = rows[Math.min(lines, rows.length) - 1];
  return {
    names,
    header: first,
    trailing,
    line: last === undefined ? skip + 1 : last.line + last.lines,
    notes: [...joined.notes, ...describeRenamed(joined.header, names)],
    hasBreaks: rows.slice(0, lines).some((row) => row.lines > 1),
  };
}

async function toRelation(file: CsvFile, head: Head, rows: readonly CsvRecord[]): Promise<Outcome> {
  const { dateOrder, reading } = file;
  const { dialect, opening } = head;
  const layout = parseLayout(rows, reading, opening.skip);
  const { header, line, names, trailing } = layout;
  const data = rows.slice(Number(reading.header ?? 1));
  const below = head.records.filter((one) => one.line >= line && one.comment === undefined);
  const typedColumns = (): readonly boolean[] =>
    findTypedColumns(below, names.length, trailing, header);
  const mayRepeat = data.some(({ cells }) => isLikeHeader(cells, header));
  const kinds = mayRepeat ? typedColumns() : [];
  const rowsBelow = data
    .filter(({ cells, fault }) => fault === undefined && !repeatsHeader(cells, header, kinds))
    .map((row) =>
      row.cells.length === trailing && row.cells.at(-1) === ''
        ? { ...row, cells: row.cells.slice(0, -1) }
        : row,
    )
    .filter(({ cells }) => cells.length === names.length);
  const records = rowsBelow.map(({ cells }) => cells);
  const columns = await inferColumns(names, records, { ...reading, dateOrder });
  if (records.length > 0) checkDates(columns, reading);
  const start = await findLineStart(file.path, line - 1);
  const isOdd = await mustTidy(file, head, layout, data, start);
  const parts = {
    kind: 'csv',
    columns,
    ...(records.length === 0 ? ({ empty: true } as const) : {}),
    ...(file.scan.hasPlainNumbers ? ({ hasPlainNumbers: true } as const) : {}),
    ...(reading.nulls === undefined ? {} : { nulls: reading.nulls }),
  } as const;
  const isText = columns.every(({ inferred: { property } }) => isPlainText(property));
  const headerRow = header !== undefined && isText ? findHeaderRow(rowsBelow, names) : undefined;
  const notes = [
    ...opening.notes,
    ...(dialect.trims ? [TRIMMED] : []),
    ...layout.notes,
    ...describeHeaderRow(headerRow),
  ];
  if (!isOdd) {
    return {
      relation: {
        ...parts,
        path: file.path,
        delimiter: dialect.delimiter,
        ...(header === undefined ? { headerless: true } : {}),
        ...skipOf(header === undefined ? line - 1 : line - 2),
        ...(notes.length === 0 ? {} : { notes }),
      },
    };
  }
  const path = join(file.folder, newUuid());
  const tidy = await tidyCopy(
    {
      path: file.path,
      dialect,
      comment: opening.comment ?? '#',
      start,
      line,
      width: names.length,
      trailing,
      header,
      typed: mayRepeat ? kinds : typedColumns(),
    },
    path,
  );
  if (tidy.second !== undefined) return secondTable(tidy.second, reading);
  const all = [...notes, ...tidy.notes];
  return {
    relation: {
      ...parts,
      path,
      delimiter: TIDY_DELIMITER,
      headerless: true,
      endsInFeeds: true,
      lineSteps: tidy.lineSteps,
      ...(tidy.unread === undefined ? {} : { unread: tidy.unread }),
      ...(all.length === 0 ? {} : { notes: all }),
    },
  };
}

/** @throws Failure InvalidBody if no column has dates of the format that the loader set */
function checkDates(columns: Relation['columns'], { dateFormat, wide }: Reading): void {
  if (dateFormat === undefined || wide !== undefined) return;
  const isRead = columns.some(({ inferred: { spelling } }) => spelling?.read.kind === 'strptime');
  if (isRead) return;
  throw new Failure('InvalidBody', `dateFormat: no column has dates as \`${dateFormat}\` has them`);
}

const TRIMMED = 'blanks around cells are left out, as around the names of the header';

const skipOf = (skip: number): { readonly skip?: number } => (skip <= 0 ? {} : { skip });

function secondTable(
  { line, linesAfter }: NonNullable<TidyFile['second']>,
  { skipLast = 0 }: Reading,
): Outcome {
  const why = `a second table begins in line ${line}`;
  return { why, add: { skipLast: skipLast + linesAfter }, secondLine: line };
}

const isPlainText = ({ format, type }: PropertyType): boolean =>
  type === 'string' && format === undefined;

function describeHeaderRow(row: HeaderRow | undefined): readonly string[] {
  if (row === undefined) return [];
  const { cells, columns, line } = row;
  const what = `line ${line} (${quoteExcerpt(cells.join(','))}) looks like a second header`;
  const effect = `it is read as a record, so that ${columns.join(', ')} are text`;
  const skip = `skipLines=${line - 1} (--skip-lines ${line - 1})`;
  return [`warning: ${what}; ${effect}: to load the table below it, pass ${skip}`];
}

/** Whether DuckDB would misread the file. */
async function mustTidy(
  file: CsvFile,
  { dialect, opening, records, text }: Head,
  { hasBreaks, header, names, trailing }: Layout,
  data: readonly CsvRecord[],
  start: number,
): Promise<boolean> {
  const { delimiter, escape, quote, spaced, trims } = dialect;
  if (trims || spaced || trailing !== undefined || quote !== '"' || escape !== '"') return true;
  if (delimiter === ' ' || file.scan.mixedEnds || hasBreaks || opening.comment !== undefined)
    return true;
  const above = text.slice(0, text.length - opening.text.length);
  if (opening.skip > 0 && above.includes('"')) return true;
  const width = names.length;
  const isBlankInside = ({ cells, line }: CsvRecord): boolean =>
    cells.length === 0 && line < (data.at(-1)?.line ?? 0);
  const isOdd = ({ cells, fault, lines }: CsvRecord): boolean =>
    fault !== undefined || lines > 1 || cells.length !== width || isLikeHeader(cells, header);
  if (data.some(isOdd) || records.some(isBlankInside)) return true;
  const begin = header === undefined ? undefined : headerBegin(opening.text, delimiter);
  const plain = { path: file.path, delimiter, width, start, begin };
  return (await hasOddLines(plain)) || (await hasWideLines(file.path, delimiter, width));
}

/** The first name of the header as it is written, without blanks around it. */
function headerBegin(text: string, delimiter: string): string {
  const [line = ''] = text.slice(0, HEADER_CHARACTERS).split(/\r\n|\n|\r/, 1);
  const end = line.indexOf(delimiter);
  return (end < 0 ? line : line.slice(0, end)).trim();
}

/** Describes names that differ from the header. */
function describeRenamed(header: readonly string[], names: readonly string[]): readonly string[] {
  const changed = names.flatMap((name, at) => {
    const before = header[at] ?? '';
    return before.trim() === name ? [] : [`${JSON.stringify(before.slice(0, 100))} is ${name}`];
  });
  return changed.length === 0
    ? []
    : [`the header names columns twice or not: ${changed.join(', ')}`];
}

/** The width of records with an empty last cell because each line ends in a delimiter. */
function findTrailing(rows: Rows): number | undefined {
  const [header = [], ...records] = rows;
  if (records.length === 0 || header.length < 2) return undefined;
  const named = header.at(-1)?.trim() !== '';
  const longer = named ? header.length + 1 : header.length;
  const ends = records.filter((row) => row.length === longer);
  if (!named) return ends.every((row) => row.at(-1) === '') ? longer : undefined;
  // A record with a value in the extra cell is rejected.
  if (ends.length > 0 && !endEmpty(ends)) return undefined;
  return commonWidth(records).width === longer ? longer : undefined;
}
