// Texts that a spreadsheet would run, in files of cells. A mark before them makes them texts: that of
// spreadsheets themselves, a single quotation mark.
import { DuckDBTypeId, type DuckDBType } from '@duckdb/node-api';
import type { BodyFormat } from './protocol.ts';

/** What begins a formula; TAB and line breaks are skipped before one, and wide signs count as signs. */
const BEGIN = '[=+@\\t\\r\\n\\uFF1D\\uFF0B\\uFF0D\\uFF20-]';
/** A number that is kept as a text is none. */
const NUMBER = '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?';

const FORMULA = new RegExp(`^${BEGIN}`);
const PLAIN_NUMBER = new RegExp(`^${NUMBER}$`);

export const isEscaped = (format: BodyFormat): boolean =>
  format === 'csvEscaped' || format === 'psvEscaped';

export const escapedFormula = (text: string): string =>
  FORMULA.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text;

/** The same for a column of a statement; of other types than texts the column as it is. */
export function escapedFormulaSql(type: DuckDBType, place: string, cell: string): string {
  if (type.typeId !== DuckDBTypeId.VARCHAR || type.alias === 'JSON') return cell;
  const begin = "'^[=+@\\t\\r\\n\\x{FF1D}\\x{FF0B}\\x{FF0D}\\x{FF20}-]'";
  const runs = `regexp_matches(${place}, ${begin}) AND NOT regexp_full_match(${place}, '${NUMBER}')`;
  return `CASE WHEN ${runs} THEN '''' || ${cell} ELSE ${cell} END`;
}
