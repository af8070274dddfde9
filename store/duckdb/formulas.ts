// Escapes texts in CSV and PSV files that a spreadsheet would run as formulas. The escape is a leading single
// quotation mark, as in spreadsheets.
import { DuckDBTypeId, type DuckDBType } from '@duckdb/node-api';
import type { BodyFormat } from './protocol.ts';

/** The beginning of a formula; spreadsheets skip TAB and line breaks before it, and accept wide signs. */
const BEGIN = '[=+@\\t\\r\\n\\uFF1D\\uFF0B\\uFF0D\\uFF20-]';
/** A number in a text column is no formula. */
const NUMBER = '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?';

const FORMULA = new RegExp(`^${BEGIN}`);
const PLAIN_NUMBER = new RegExp(`^${NUMBER}$`);

export const isEscaped = (format: BodyFormat): boolean =>
  format === 'csvEscaped' || format === 'psvEscaped';

export const escapedFormula = (text: string): string =>
  FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;

/** The same as SQL for a column; columns of other types are unchanged. */
export function escapedFormulaSql(type: DuckDBType, place: string, cell: string): string {
  if (type.typeId !== DuckDBTypeId.VARCHAR || type.alias === 'JSON') return cell;
  const begin = "'^[=+@\\t\\r\\n\\x{FF1D}\\x{FF0B}\\x{FF0D}\\x{FF20}-]'";
  const runs = `regexp_matches(${place}, ${begin}) AND NOT regexp_full_match(${place}, '${NUMBER}')`;
  return `CASE WHEN ${runs} THEN '''' || ${cell} ELSE ${cell} END`;
}
