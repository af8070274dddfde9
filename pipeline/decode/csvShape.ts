// The shape of a CSV, from its first lines: what splits them, which of them is the header, and what is
// to be said where they do not tell.
import { Failure } from '../../store/base/failure.ts';
import { PROPERTIES_MAX } from '../../store/lake/versions/columns.ts';
import { quoted } from '../bytes/excerpt.ts';
import { inferType } from '../values/infer.ts';

export type Rows = readonly (readonly string[])[];

/** How the first rows look under one delimiter. */
interface Split {
  readonly delimiter: string;
  readonly rows: Rows;
}

/** Columns that most of the rows have, and the share that has them. */
export function widthOf(rows: Rows): { readonly width: number; readonly share: number } {
  const counts = new Map<number, number>();
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
  const [most] = [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0]);
  return { width: most?.[0] ?? 0, share: (most?.[1] ?? 0) / Math.max(1, rows.length) };
}

/**
 * The delimiter that splits most rows alike, header and all, and into most columns; one that is not in
 * the text where nothing does.
 */
export function bestSplit(splits: readonly Split[]): Split | undefined {
  const judged = splits.map((split) => {
    const { width } = widthOf(split.rows.slice(1));
    const share = shareBelow(split.rows, width);
    const header = split.rows[0]?.length ?? 0;
    const only = split.rows.length < 2;
    const columns = only ? header : width;
    return { split, columns, even: only || header === width, share: only ? 1 : share };
  });
  const [best] = judged
    .filter(({ columns }) => columns > 1)
    .sort(
      (a, b) =>
        Number(b.even && b.share > STEADY) - Number(a.even && a.share > STEADY) ||
        Number(b.share > STEADY) - Number(a.share > STEADY) ||
        Number(b.even) - Number(a.even) ||
        b.columns - a.columns,
    );
  // One column of words with commas in them: no row has the same number of them.
  const prose = best !== undefined && !best.even && best.share <= STEADY;
  return prose && best.split.rows[0]?.length === 1 ? undefined : best?.split;
}

/** Of the rows from the first one with so many columns on, the share that has them: titles are above it. */
function shareBelow(rows: Rows, width: number): number {
  const below = rows.slice(
    Math.max(
      0,
      rows.findIndex(({ length }) => length === width),
    ),
  );
  const like = below.filter(({ length }) => length === width).length;
  return like * 2 < rows.length ? 0 : like / below.length;
}

/** Share of rows that a delimiter must split alike. */
const STEADY = 0.8;
/** Lines above a header that are looked through for it. */
export const TITLES_MAX = 50;

/** Words of a line, where columns stand below each other with blanks between them. */
export const wordsOf = (line: string): readonly string[] => line.trim().split(/\s+/);

/** Whether lines without a delimiter are columns by their blanks: some of them numbers or dates. */
export function isAligned(lines: readonly string[]): boolean {
  const rows = lines.filter((line) => line.trim() !== '').map(wordsOf);
  const { width, share } = widthOf(rows);
  if (rows.length < 2 || width < 2 || share < 1) return false;
  const [header = [], ...records] = rows;
  return header.some((name, at) => {
    const values = records.map((row) => row[at] ?? '');
    return kindOf([name]) === 'text' && kindOf(values) !== 'text';
  });
}

type Kind = 'number' | 'date' | 'boolean' | 'text';

function kindOf(values: readonly string[]): Kind {
  const { type, format } = inferType(values).property;
  if (format !== undefined) return 'date';
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'boolean' ? 'boolean' : 'text';
}

const say = (options: string): string => {
  const flags = options
    .split(' ')
    .map((one) =>
      one.replace(/^(\w+)=(.*)$/, (_, name: string, value: string) => flagOf(name, value)),
    );
  return `say ${options.replaceAll(' ', '&')} (${flags.join(' ')})`;
};

function flagOf(name: string, value: string): string {
  if (name === 'header') return value === 'false' ? '--no-header' : `--header-lines ${value}`;
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} ${value}`;
}

/**
 * @param lines of the text, the first TITLES_MAX of them
 * @param delimiter of one character
 * @throws Failure InvalidBody for lines above the header, naming how many.
 */
export function refuseTitles(rows: Rows, lines: readonly string[], delimiter: string): void {
  const [header = [], ...records] = rows;
  const { width, share } = widthOf(records);
  if (records.length < 2 || header.length >= width || width < 2 || width > PROPERTIES_MAX) return;
  const at = lines.findIndex((line) => line.split(delimiter).length === width);
  const names = (lines[at] ?? '').split(delimiter).map((name) => name.replace(/^"|"$/g, ''));
  const isHeader = at > 0 && names.every((name) => kindOf([name]) === 'text') && share >= 0.5;
  const title = quoted(lines.find((line) => line.trim() !== '') ?? '');
  if (isHeader) {
    const told = `the first line (${title}) is no header: ${width} columns begin in line ${at + 1}`;
    throw new Failure('InvalidBody', `${told}; ${say(`skipLines=${at}`)}`);
  }
  if (share < STEADY || records.some((row) => row.length > header.length && row.at(-1) === ''))
    return;
  const told = `the header names ${header.length} columns and the records have ${width}`;
  const add = `add the missing name to it, or ${say('header=false skipLines=1')}`;
  throw new Failure('InvalidBody', `${told}: ${add}`);
}

/** Words for a value that is not there. */
const ABSENT = /^(?:|n\/?a|#n\/a|nan|null|none|nil|-+|\.+|\?|missing|unknown)$/i;

/** @throws Failure InvalidBody where the first line is a record, or the second a header too. */
export function refuseHeader(rows: Rows): void {
  const [header = [], ...records] = rows;
  const kindAt = (at: number): Kind => kindOf(records.map((row) => row[at] ?? ''));
  if (isRecord(header, kindAt, records.length)) {
    const line = quoted(header.join(','));
    const told = `the first line (${line}) is a record: the file has no header`;
    throw new Failure(
      'InvalidBody',
      `${told}; ${say('header=false')}, or header=true if it is one`,
    );
  }
  const [second = [], ...others] = records;
  if (others.length < 2 || second.length !== header.length) return;
  // Most files are told by this line alone; to look at all values of all columns took longer than the load.
  if (second.some((cell) => cell !== '' && kindOf([cell]) !== 'text')) return;
  const rest = header.map((_, at) => kindOf(others.map((row) => row[at] ?? '')));
  const misfits = rest.map((kind, at) => {
    const cell = second[at] ?? '';
    if (kind === 'text' || others.every((row) => (row[at] ?? '') === '')) return 'any';
    if (ABSENT.test(cell.trim())) return 'absent';
    return kindOf([cell]) === 'text' ? 'word' : 'value';
  });
  const words = misfits.filter((one) => one === 'word').length;
  if (words === 0 || misfits.includes('value')) return;
  // One word beside a name may be a value of its own; a line of them is no record.
  const beside = rest.some(
    (kind, at) => kind === 'text' && !ABSENT.test((second[at] ?? '').trim()),
  );
  if (words === 1 && beside) return;
  const line = quoted(second.join(','));
  const told = `the second line (${line}) is no record but a part of the header`;
  throw new Failure('InvalidBody', `${told}; ${say('header=2')}, or header=true if it is a record`);
}

/** A name that is a date or a number, as the values below it are; years and places may be names. */
function isRecord(
  header: readonly string[],
  kindAt: (at: number) => Kind,
  records: number,
): boolean {
  const like = header.filter((name, at) => {
    const own = name === '' ? 'text' : kindOf([name]);
    return own !== 'text' && own !== 'boolean' && (records === 0 || kindAt(at) === own);
  });
  if (like.some((name) => kindOf([name]) === 'date' && !/^\d{1,8}$/.test(name))) return true;
  const numbers = like.filter((name) => kindOf([name]) === 'number').map(Number);
  const whole = numbers.every((value) => Number.isInteger(value));
  const rising = numbers.every((value, at) => at === 0 || value > (numbers[at - 1] ?? 0));
  const named = whole && rising && (numbers.length > 1 || isYear(numbers[0]));
  return numbers.length > 0 && !named;
}

const isYear = (value: number | undefined): boolean =>
  value !== undefined && value >= 1500 && value <= 2500;

const TOTALS =
  /^(?:grand[ -]?|sub[ -]?)?(?:totals?|sums?|summe|gesamt|insgesamt|averages?|mean|avg|somme|suma)\s*:?$/i;
/** A sentence, or the sign of a note. */
const FOOTER = /^(?:#|\*|\(c\)|©|end of)|^(?:source|note|quelle|footnote|copyright)|[a-z]{2}[: ]/i;

/**
 * @param last lines of the file that are not blank, the last one at the end
 * @throws Failure InvalidBody for totals and notes at the end, naming how many lines.
 */
export function refuseFooter(last: readonly string[], rows: Rows, delimiter: string): void {
  const width = rows[0]?.length ?? 0;
  if (width < 2 || rows.length < 3) return;
  const firsts = new Set(rows.slice(1, -2).map(([first = '']) => first.trim().toLowerCase()));
  const isFooter = (line: string): boolean => {
    // The end of a cell with line breaks in it.
    if (line.split('"').length % 2 === 0) return false;
    const cells = line.split(delimiter).map((cell) => cell.replace(/^"|"$/g, '').trim());
    const [first = ''] = cells.filter((cell) => cell !== '');
    if (TOTALS.test(first)) return !firsts.has(first.toLowerCase());
    return (
      cells.filter((cell) => cell !== '').length === 1 && cells.length < width && FOOTER.test(first)
    );
  };
  let count = 0;
  while (count < last.length && isFooter(last[last.length - 1 - count] ?? '')) count += 1;
  if (count === 0) return;
  const told = `the last line (${quoted(last.at(-1) ?? '')}) is no record`;
  const keep = 'or skipLast=0 if it is one';
  throw new Failure('InvalidBody', `${told}: ${say(`skipLast=${count}`)} to leave it out, ${keep}`);
}

/** Names as a person would write them: without blanks around them, each once, none empty. */
export function namesOf(header: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  /** The next number of a name that stands there already: 30,000 alike took 40 s when each began at 2. */
  const next = new Map<string, number>();
  return header.map((given, at) => {
    const name = given.replace(/\p{Cc}+/gu, ' ').trim() || `column${at + 1}`;
    const plain = name.toLowerCase();
    let own = name;
    let n = next.get(plain) ?? 2;
    for (; seen.has(own.toLowerCase()); n += 1) own = `${name}_${n}`;
    next.set(plain, n);
    seen.add(own.toLowerCase());
    return own;
  });
}
