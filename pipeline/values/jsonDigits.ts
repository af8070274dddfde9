// Generates the SQL that reads numbers of JSON with all their digits. DuckDB parses `1.234567890123456789`
// as a double immediately, so the numbers of a record are converted to texts first.
import { type ColumnType, isExactNumber } from '../../store/lake/versions/columns.ts';
import { literal } from '../../store/duckdb/sqlText.ts';
import { evaluateOnce } from './dateReading.ts';
import { significant } from './exactText.ts';

/** A text with its quotes, or the part between two texts. */
const PARTS = String.raw`"(?:[^"\\]|\\.)*"|[^"]+`;
const NUMBER = String.raw`(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)`;

/** The record `json` with each number replaced by a text of the same digits. */
function quoteNumbers(json: string): string {
  const parts = `regexp_extract_all(CAST(${json} AS VARCHAR), ${literal(PARTS)})`;
  const quoted = String.raw`regexp_replace(part, ${literal(NUMBER)}, '"\1"', 'g')`;
  const rewritten = `CASE WHEN starts_with(part, '"') THEN part ELSE ${quoted} END`;
  return `array_to_string(list_transform(${parts}, lambda part: ${rewritten}), '')`;
}

/** A member of a record to read: its name there, and the type of its property. */
interface ReadMember {
  readonly name: string;
  readonly type: ColumnType;
}

/** Numbers of JSON with more digits, or a greater exponent, than every double keeps. */
const LONG_NUMBER = String.raw`[0-9.]{16}|[0-9][eE]-?[0-9]{3}`;
const LONG_NUMBERS = String.raw`[0-9][0-9.]{15,}(?:[eE][-+]?[0-9]+)?|[0-9][0-9.]*[eE]-?[0-9]{3,}`;

/**
 * SQL test whether a double would have other digits than a number of the record `json`, apart from integers:
 * DuckDB keeps their digits in a text.
 */
export function roundedTest(json: string): string {
  const numbers = `regexp_extract_all(CAST(${json} AS VARCHAR), ${literal(LONG_NUMBERS)})`;
  const shortest = 'CAST(TRY_CAST(n AS DOUBLE) AS VARCHAR)';
  const isRounded = `regexp_matches(n, '[.eE]') AND
    coalesce(${significant('n')} <> ${significant(shortest)}, false)`;
  // The first test is inexpensive, and most records have no such number.
  return `CASE WHEN regexp_matches(${json}, ${literal(LONG_NUMBER)})
    THEN len(list_filter(${numbers}, lambda n: ${isRounded})) > 0 ELSE false END`;
}

/** Members of the records `json` as terms of a select list: texts, or JSON for a JSON property. */
export function jsonMembers(members: readonly ReadMember[]): string {
  const exact = members.filter(({ type }) => isExactNumber(type));
  const others = members.filter(({ type }) => !isExactNumber(type));
  return [
    ...(others.length === 0 && exact.length > 0 ? [] : [readMembers(others)]),
    ...(exact.length === 0 ? [] : [`unnest(${transformMembers(quoteNumbers('json'), exact)})`]),
  ].join(', ');
}

/** Members that are chosen one by one: two lists of a thousand need more memory than a load has. */
const CHOSEN_MEMBERS_MAX = 60;

/** Quotes the numbers of a record without objects and arrays if a double would round one of them. */
const quoteFlat = (json: string): string =>
  `CASE WHEN ${roundedTest(json)} AND NOT regexp_matches(substr(CAST(${json} AS VARCHAR), 2), '[{[]')
    THEN ${quoteNumbers(json)} ELSE ${json} END`;

/** Reads members of a record from its digits if a double would round one of them. */
function readMembers(members: readonly ReadMember[]): string {
  const plain = transformMembers('json', members);
  if (members.length === 0) return `unnest(${plain})`;
  if (members.length > CHOSEN_MEMBERS_MAX)
    return `unnest(${transformMembers(quoteFlat('json'), members)})`;
  const both = `{'plain': ${plain}, 'quoted': ${transformMembers(quoteNumbers('json'), members)}}`;
  const terms = members.map(({ name, type }) => {
    const member = (from: string): string => `struct_extract(${from}, ${literal(name)})`;
    // Numbers within objects and arrays stay numbers.
    const isNested = `left(${member("r['plain']")}, 1) IN ('{', '[')`;
    const value =
      type === 'json'
        ? member("r['plain']")
        : `CASE WHEN ${isNested} THEN ${member("r['plain']")} ELSE ${member("r['quoted']")} END`;
    return `${literal(name)}: ${value}`;
  });
  const exact = evaluateOnce(both, 'r', () => `{${terms.join(', ')}}`);
  return `unnest(CASE WHEN ${roundedTest('json')} THEN ${exact} ELSE ${plain} END)`;
}

function transformMembers(record: string, members: readonly ReadMember[]): string {
  const shape = members.map(({ name, type }) => [name, type === 'json' ? 'JSON' : 'VARCHAR']);
  return `json_transform(${record}, ${literal(JSON.stringify(Object.fromEntries(shape)))})`;
}
