// Detects an ambiguous beginning or end of a file, and proposes the options that resolve it.
import { PROPERTIES_MAX } from '../../store/lake/versions/columns.ts';
import { quoteExcerpt } from '../bytes/excerpt.ts';
import { HEADER_LINES_MAX } from '../bytes/reading.ts';
import type { Hint } from './hints.ts';
import type { CsvRecord } from './lines/records.ts';
import { type Kind, detectKind, type Rows, STEADY_SHARE, commonWidth, endEmpty } from './shape.ts';

export interface Ambiguity {
  readonly why: string;
  readonly add: Hint;
  /** The options to add if the file is as it looks, and the condition in words. */
  readonly otherwise?: { readonly add: Hint; readonly when: string };
}

const IF_IT_IS = 'if it is one';
const IS_HEADER = { add: { header: true }, when: IF_IT_IS } as const;

const rowsOf = (records: readonly CsvRecord[]): Rows => records.map(({ cells }) => cells);

const nonEmpty = (cells: readonly string[]): number =>
  cells.filter((cell) => cell.trim() !== '').length;

/** Finds lines above the header; `records` begin at the first line, without blank ones. */
export function findTitles(records: readonly CsvRecord[]): Ambiguity | undefined {
  const rows = rowsOf(records);
  const [header = [], ...rest] = rows;
  const { share, width } = commonWidth(rest);
  if (rest.length < 2 || width < 2 || width > PROPERTIES_MAX) return undefined;
  const padded = header.length === width ? paddedTitles(rows) : undefined;
  const at = padded ?? rows.findIndex(({ length }) => length === width);
  if (at < 1 || (padded === undefined && isAlike(header, rows, width))) return undefined;
  const line = records[at]?.line ?? 1;
  const own = rows[at] ?? [];
  const below = rows.slice(at + 1).filter(({ length }) => length === width);
  if (!isRecord(own, below) && nonEmpty(own) * 2 > width && share >= 0.5) {
    const names = own.findLastIndex((cell) => cell.trim() !== '') + 1;
    const what = `${names} columns begin in line ${line}`;
    const why = `the first line (${quoteExcerpt(header.join(','))}) is no header: ${what}`;
    return {
      why,
      add: { skipLines: line - 1 },
      otherwise: IS_HEADER,
    };
  }
  const isEmptyEnd = endEmpty(rest.filter((row) => row.length > header.length));
  if (share < STEADY_SHARE || padded !== undefined || isEmptyEnd) return undefined;
  const why = `the header names ${header.length} columns and the records have ${width}`;
  return { why, add: { header: false, skipLines: line - 1 } };
}

/** Whether the header has as many cells as the records, give or take an empty one, or heads a table. */
function isAlike(header: readonly string[], rows: Rows, width: number): boolean {
  const wide = rows.filter(({ length }) => length === width);
  if (header.length === width) return true;
  if (header.length === width + 1 && header.at(-1)?.trim() === '') return true;
  if (header.length === width - 1 && wide.every((row) => row.at(-1) === '')) return true;
  const end = rows.findIndex(({ length }) => length !== header.length);
  const block = rows.slice(1, end);
  if (block.length < 2 || isRecord(header, block)) return false;
  return header.some((name, at) => {
    const kind = detectKind(block.map((row) => row[at] ?? ''));
    return kind !== 'text' && detectKind([name]) === 'text';
  });
}

/** Counts lines with one text and empty cells above a line of names. */
function paddedTitles(rows: Rows): number | undefined {
  const at = rows.findIndex((cells) => nonEmpty(cells) > 1);
  const names = rows[at] ?? [];
  const below = rows.slice(at + 1).filter(({ length }) => length === names.length);
  if (at < 1 || below.length === 0 || nonEmpty(names) < names.length) return undefined;
  if (isRecord(names, below)) return undefined;
  const kinds = names.map((_, column) => detectKind(below.map((row) => row[column] ?? '')));
  const isShown = kinds.some(
    (kind, column) => kind !== 'text' && detectKind([names[column] ?? '']) === 'text',
  );
  return isShown || names.length > 2 ? at : undefined;
}

/** Detects a first line that is a record. */
export function findRecord(records: readonly CsvRecord[]): Ambiguity | undefined {
  const [header = [], ...rest] = rowsOf(records);
  if (!isRecord(header, rest)) return undefined;
  const why = `the first line (${quoteExcerpt(header.join(','))}) is a record: the file has no header`;
  return { why, add: { header: false }, otherwise: IS_HEADER };
}

/** Words for a missing value. */
const ABSENT = /^(?:|n\/?a|#n\/a|nan|null|none|nil|-+|\.+|\?|missing|unknown)$/i;
/** `1,234`, `-1e400`, `3M`, and numbers with more digits than any number type. */
const BEGINS_AS_NUMBER = /^[-+($€£]{0,3}[.,]?\d/;
/** Rows at the end of the sample that determine the kind of a column. */
const KIND_ROWS = 1_000;

/** Detects lines below the first one that belong to the header. */
export function findHeaderLines(records: readonly CsvRecord[]): Ambiguity | undefined {
  const rows = rowsOf(records);
  // Most files are decided by their second line: all values of all columns take longer than the load.
  if (rows.length < 3 || !mayBeNames(rows[1] ?? [])) return undefined;
  let count = 1;
  while (count < HEADER_LINES_MAX && isHeaderPart(rows, count)) count += 1;
  if (count === 1) return undefined;
  const which =
    count === 2
      ? `the second line (${quoteExcerpt((rows[1] ?? []).join(','))}) is no record but a part of the header`
      : `lines ${records[1]?.line} to ${records[count - 1]?.line} are no records but parts of the header`;
  const when = count === 2 ? 'if it is a record' : 'if they are records';
  const otherwise = { add: { header: true }, when };
  return { why: which, add: { header: count }, otherwise };
}

const mayBeNames = (cells: readonly string[]): boolean =>
  cells.some((cell) => cell.trim() !== '' && detectKind([cell]) === 'text');

/** The kind of a column; undefined if it has no value. */
function columnKind(rows: Rows, at: number): Kind | undefined {
  const values = rows.map((row) => (row[at] ?? '').trim());
  return values.every((value) => value === '') ? undefined : detectKind(values);
}

/** Whether the row fits no column, by the kinds of the rows further below. */
function isHeaderPart(rows: Rows, at: number): boolean {
  const [header = []] = rows;
  const cells = rows[at] ?? [];
  const lowest = rows.slice(Math.max(at + 1, rows.length - Math.ceil(rows.length / 3)));
  const below = lowest.filter(({ length }) => length === header.length).slice(0, KIND_ROWS);
  if (cells.length !== header.length || below.length === 0 || !mayBeNames(cells)) return false;
  // A repeated header is left out automatically.
  if (cells.every((cell, place) => cell === header[place])) return false;
  let words = 0;
  let isBeside = false;
  for (const [place, written] of cells.entries()) {
    const cell = written.trim();
    const kind = columnKind(below, place);
    if (kind === undefined || cell === '' || ABSENT.test(cell)) continue;
    if (kind === 'text') isBeside = true;
    else if (detectKind([cell]) === kind) return false;
    // A malformed number is a value, not a name.
    else if (!BEGINS_AS_NUMBER.test(cell)) words += 1;
  }
  // One word beside a name may be a value; a line of words is not a record.
  return words > 1 || (words === 1 && !isBeside);
}

/** Whether a name is a date or a number like the values below it; years and places may be names. */
function isRecord(header: readonly string[], records: Rows): boolean {
  const like = header.filter((name, at) => {
    const own = name === '' ? 'text' : detectKind([name]);
    if (own === 'text' || own === 'boolean') return false;
    return records.length === 0 || detectKind(records.map((row) => row[at] ?? '')) === own;
  });
  if (like.some((name) => detectKind([name]) === 'date' && !/^\d{1,8}$/.test(name))) return true;
  const numbers = like.filter((name) => detectKind([name]) === 'number').map(Number);
  const whole = numbers.every((value) => Number.isInteger(value));
  const rising = numbers.every((value, at) => at === 0 || value > (numbers[at - 1] ?? 0));
  const named = whole && rising && (numbers.length > 1 || isYear(numbers[0]));
  return numbers.length > 0 && !named;
}

const isYear = (value: number | undefined): boolean =>
  value !== undefined && value >= 1500 && value <= 2500;

const TOTALS =
  /^(?:grand[ -]?|sub[ -]?)?(?:totals?|sums?|summe|gesamt|insgesamt|averages?|mean|avg|somme|suma)\s*:?$/i;
/** A sentence, or the mark of a note. */
const FOOTER = /^(?:#|\*|\(c\)|©|end of)|^(?:source|note|quelle|footnote|copyright)|[a-z]{2}[: ]/i;

/**
 * Detects totals and notes at the end.
 * @param last lines of the file, blank ones too
 * @param records from the header on
 */
export function findFooter(
  last: readonly string[],
  records: readonly CsvRecord[],
  delimiter: string,
): Ambiguity | undefined {
  const rows = rowsOf(records);
  const width = rows[0]?.length ?? 0;
  if (width < 2 || rows.length < 3) return undefined;
  const firsts = new Set(rows.slice(1, -2).map(([first = '']) => first.trim().toLowerCase()));
  const isFooter = (line: string): boolean => {
    // The end of a cell with line breaks in it.
    if (line.split('"').length % 2 === 0) return false;
    const cells = line.split(delimiter).map((cell) => cell.replace(/^"|"$/g, '').trim());
    const filled = cells.filter((cell) => cell !== '');
    const [first = ''] = filled;
    if (TOTALS.test(first)) return !firsts.has(first.toLowerCase());
    return filled.length === 1 && cells.length < width && FOOTER.test(first);
  };
  let count = 0;
  for (let back = 1; back < last.length; back += 1) {
    const line = last[last.length - back] ?? '';
    // A comment is skipped and noted in any position.
    if (line.trim() === '' || line.startsWith('#')) continue;
    if (!isFooter(line)) break;
    count = back;
  }
  if (count === 0) return undefined;
  const example = last.findLast((line) => line.trim() !== '') ?? '';
  const why = `the last line (${quoteExcerpt(example)}) is no record`;
  return {
    why,
    add: { skipLast: count },
    otherwise: { add: { skipLast: 0 }, when: IF_IT_IS },
  };
}
