// Texts that people and programs write where there is no number or date. Among texts the same is a text:
// NA is a symbol, `-` an answer. A load may name its own instead (`nulls`).
import { literal } from '../../store/duckdb/sqlText.ts';

/**
 * In lower case. Spreadsheets have errors for values, Bloomberg `#N/A N/A`, MySQL `\N`, FRED `.`, the World
 * Bank `..`; no answer has infinity as a number.
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

/** @param nulls the exact texts that mean no value, where they are named */
export const isMissing = (value: string, nulls?: readonly string[]): boolean =>
  nulls === undefined
    ? value.length <= LONGEST + 10 && MARKS.includes(withoutSpaces(value).toLowerCase())
    : nulls.includes(value);

/** As DuckDB's trim has it: of spaces alone. */
export function withoutSpaces(value: string): string {
  let [from, to] = [0, value.length];
  while (value[from] === ' ') from += 1;
  while (to > from && value[to - 1] === ' ') to -= 1;
  return value.slice(from, to);
}

/** True where a text, which is not null, means no value. @param nulls as of `isMissing` */
export function missingTest(text: string, nulls?: readonly string[]): string {
  const list = (nulls ?? MARKS).map(literal).join(', ');
  if (nulls === undefined) return `lower(trim(${text})) IN (${list})`;
  return nulls.length === 0 ? 'false' : `${text} IN (${list})`;
}
