// What people write where a number or a date is missing. Among texts the same is a text: NA is a
// symbol, `-` an answer.
import { literal } from '../../store/duckdb/sqlText.ts';

/** In lower case. */
const MARKS: readonly string[] = ['na', 'n/a', '#n/a', 'null', 'nan', '-', '–', '—', '.'];
const LONGEST = Math.max(...MARKS.map(({ length }) => length));

export const isMissing = (value: string): boolean =>
  value.length <= LONGEST + 10 && MARKS.includes(withoutSpaces(value).toLowerCase());

/** As DuckDB's trim has it: of spaces alone. */
export function withoutSpaces(value: string): string {
  let [from, to] = [0, value.length];
  while (value[from] === ' ') from += 1;
  while (to > from && value[to - 1] === ' ') to -= 1;
  return value.slice(from, to);
}

/** True where a text, which is not null, says that there is no value. */
export const missingTest = (text: string): string =>
  `lower(trim(${text})) IN (${MARKS.map(literal).join(', ')})`;
