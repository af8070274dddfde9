// Detects texts that people and programs write for a missing number or date. In a text column they are texts:
// NA is a symbol, `-` an answer. A load may set its own instead (`nulls`).
import { literal } from '../../store/duckdb/sqlText.ts';

/**
 * In lower case. Spreadsheets write errors for values, Bloomberg `#N/A N/A`, MySQL `\N`, FRED `.`, the World
 * Bank `..`; no JSON number is infinite.
 */
const MARKS: readonly string[] = [
  'na',
  'n/a',
  'n.a.',
  'n.a',
  '<na>',
  'none',
  'null',
  '(null)',
  '<null>',
  'nil',
  'nat',
  '\\n',
  'nan',
  '-nan',
  '+nan',
  '1.#qnan',
  '-1.#ind',
  'inf',
  '+inf',
  '-inf',
  'infinity',
  '+infinity',
  '-infinity',
  '#n/a',
  '#na',
  '#n/a n/a',
  '#div/0!',
  '#value!',
  '#ref!',
  '#name?',
  '#num!',
  '#null!',
  '-',
  '--',
  '---',
  '–',
  '—',
  '.',
  '..',
  '...',
];
const LONGEST = Math.max(...MARKS.map(({ length }) => length));

/** @param nulls the exact texts that mean no value, if they are set */
export const isMissing = (value: string, nulls?: readonly string[]): boolean =>
  nulls === undefined
    ? value.length <= LONGEST + 10 && MARKS.includes(withoutSpaces(value).toLowerCase())
    : nulls.includes(value);

/** Trims like DuckDB: spaces only. */
export function withoutSpaces(value: string): string {
  let [from, to] = [0, value.length];
  while (value[from] === ' ') from += 1;
  while (to > from && value[to - 1] === ' ') to -= 1;
  return value.slice(from, to);
}

/** SQL test whether a text, which is not null, means no value. @param nulls as of `isMissing` */
export function missingTest(text: string, nulls?: readonly string[]): string {
  const list = (nulls ?? MARKS).map(literal).join(', ');
  if (nulls === undefined) return `lower(trim(${text})) IN (${list})`;
  return nulls.length === 0 ? 'false' : `${text} IN (${list})`;
}
