// Detects numbers of JSON that DuckDB would round: it parses `1.234567890123456789` as a double immediately.
// A file with such a number is rewritten, with the number as a text whose first character is an escape: the
// sample then distinguishes it from a text of the file.
import { literal } from '../../store/duckdb/sqlText.ts';
import { significant } from './exactText.ts';

/** Numbers of JSON with more digits, or a greater exponent, than every double keeps. */
const LONG_NUMBER = String.raw`[0-9.]{16}|[0-9][eE][-+]?[0-9]{3}`;
const LONG_NUMBERS = String.raw`[0-9][0-9.]{15,}(?:[eE][-+]?[0-9]+)?|[0-9][0-9.]*[eE][-+]?[0-9]{3,}`;

/** A text with its quotes. */
const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;

/**
 * SQL test whether a double would have other digits than a number of the record `json`, apart from integers:
 * DuckDB keeps their digits in a text.
 */
export function roundedTest(json: string): string {
  const withoutTexts = `regexp_replace(CAST(${json} AS VARCHAR), ${literal(TEXT)}, '""', 'g')`;
  const numbers = `regexp_extract_all(${withoutTexts}, ${literal(LONG_NUMBERS)})`;
  const shortest = 'CAST(TRY_CAST(n AS DOUBLE) AS VARCHAR)';
  const isRounded = `regexp_matches(n, '[.eE]') AND
    coalesce(${significant('n')} <> ${significant(shortest)}, false)`;
  // The first test is inexpensive, and most records have no such number.
  return `CASE WHEN regexp_matches(${json}, ${literal(LONG_NUMBER)})
    THEN len(list_filter(${numbers}, lambda n: ${isRounded})) > 0 ELSE false END`;
}

/** The JSON text in place of a number. */
export const numberText = (digits: string): string =>
  `"\\u00${digits.charCodeAt(0).toString(16)}${digits.slice(1)}"`;

const NUMBER_TEXT = /"\\u00(2d|3\d)([\d.eE+-]*)"/g;

/** Restores the numbers of a rewritten record: `JSON.parse` then rounds them. */
export const restoreNumbers = (json: string): string =>
  json.replaceAll(
    NUMBER_TEXT,
    (_, code: string, rest: string) => String.fromCharCode(Number.parseInt(code, 16)) + rest,
  );
