// Generates the SQL that reads numbers of JSON with all their digits. DuckDB parses `1.234567890123456789`
// as a double immediately, so the numbers of a record are converted to texts first.
import { type ColumnType, isExactNumber } from '../../store/lake/versions/columns.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

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

/** Members of the records `json` as terms of a select list: texts, or JSON for a JSON property. */
export function jsonMembers(members: readonly ReadMember[]): string {
  const exact = members.filter(({ type }) => isExactNumber(type));
  const others = members.filter(({ type }) => !isExactNumber(type));
  return [
    ...(others.length === 0 && exact.length > 0 ? [] : [transformMembers('json', others)]),
    ...(exact.length === 0 ? [] : [transformMembers(quoteNumbers('json'), exact)]),
  ].join(', ');
}

function transformMembers(record: string, members: readonly ReadMember[]): string {
  const shape = members.map(({ name, type }) => [name, type === 'json' ? 'JSON' : 'VARCHAR']);
  return `unnest(json_transform(${record}, ${literal(JSON.stringify(Object.fromEntries(shape)))}))`;
}
