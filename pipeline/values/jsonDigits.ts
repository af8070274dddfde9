// Numbers of JSON with all their digits, in SQL. DuckDB reads `1.234567890123456789` as a double before
// anything can be made of it, so the numbers of a record become texts first.
import { type ColumnType, isExactNumber } from '../../store/lake/versions/columns.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

/** A text with its quotes, or what is between two of them. */
const PARTS = String.raw`"(?:[^"\\]|\\.)*"|[^"]+`;
const NUMBER = String.raw`(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)`;

/** The record `json` with a text of the same digits in the place of each number. */
function quoteNumbers(json: string): string {
  const parts = `regexp_extract_all(CAST(${json} AS VARCHAR), ${literal(PARTS)})`;
  const quoted = String.raw`regexp_replace(part, ${literal(NUMBER)}, '"\1"', 'g')`;
  const rewritten = `CASE WHEN starts_with(part, '"') THEN part ELSE ${quoted} END`;
  return `array_to_string(list_transform(${parts}, lambda part: ${rewritten}), '')`;
}

/** What a member of a record is read for: its name there, and the type of its property. */
interface ReadMember {
  readonly name: string;
  readonly type: ColumnType;
}

/** Members of the records `json` as terms of a select list: texts, or JSON where a property is that. */
export function jsonMembers(members: readonly ReadMember[]): string {
  const exact = members.filter(({ type }) => isExactNumber(type));
  const others = members.filter(({ type }) => !isExactNumber(type));
  return [
    ...(others.length === 0 && exact.length > 0 ? [] : [transformed('json', others)]),
    ...(exact.length === 0 ? [] : [transformed(quoteNumbers('json'), exact)]),
  ].join(', ');
}

function transformed(record: string, members: readonly ReadMember[]): string {
  const shape = members.map(({ name, type }) => [name, type === 'json' ? 'JSON' : 'VARCHAR']);
  return `unnest(json_transform(${record}, ${literal(JSON.stringify(Object.fromEntries(shape)))}))`;
}
