// SQL that formats a value for a file as render.ts does: DuckDB's own output is not always JSON or exact.
import { DuckDBDecimalType, DuckDBListType, type DuckDBType, DuckDBTypeId } from '@duckdb/node-api';
import { nanosecondText } from './sqlText.ts';

const WIDE: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.HUGEINT,
  DuckDBTypeId.UHUGEINT,
]);
const INSTANTS: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.TIMESTAMP,
  DuckDBTypeId.TIMESTAMP_TZ,
]);
const SPELLED: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.INTERVAL,
  DuckDBTypeId.TIME,
  DuckDBTypeId.UUID,
]);
/** Digits that a double represents exactly. */
const EXACT_DIGITS = 15;

/** SQL of a column of csv or psv. */
export function cellSql(type: DuckDBType, place: string): string {
  if (type instanceof DuckDBListType) {
    const list = `CAST(to_json(${memberSql(type, place)}) AS VARCHAR)`;
    return `CASE WHEN ${place} IS NOT NULL THEN ${list} END`;
  }
  return plainSql(type, place);
}

/**
 * SQL of a member of JSON.
 * @param strings formats every decimal as a string, regardless of its digits
 * @param depth of lists around it
 */
export function memberSql(type: DuckDBType, place: string, strings = false, depth = 0): string {
  const text = `CAST(${place} AS VARCHAR)`;
  const exactly = (isExact: string): string =>
    `CASE WHEN ${isExact} THEN CAST(${text} AS JSON) ELSE to_json(${text}) END`;
  if (type instanceof DuckDBListType) {
    const item = `item${depth}`;
    const print = memberSql(type.valueType, item, strings, depth + 1);
    return print === item ? place : `list_transform(${place}, lambda ${item}: ${print})`;
  }
  if (WIDE.has(type.typeId)) {
    return exactly(`${place} BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`);
  }
  if (type instanceof DuckDBDecimalType && strings && type.scale > 0) return `to_json(${text})`;
  if (type instanceof DuckDBDecimalType && type.width > EXACT_DIGITS) {
    const most = `1e${EXACT_DIGITS - type.scale}`;
    return exactly(`${place} > -${most} AND ${place} < ${most}`);
  }
  if (type.alias === 'JSON') return jsonSql(text);
  return SPELLED.has(type.typeId) ? text : plainSql(type, place);
}

/** Non-standard JSON that DuckDB accepts: standard JSON has no such letters outside of strings. */
const LENIENT = String.raw`[iINA]|na|,\s*[\]}]`;
const JSON_TEXTS = String.raw`"([^"\\]|\\.)*"`;

function jsonSql(text: string): string {
  const bare = `regexp_replace(${text}, '${JSON_TEXTS}', '0', 'g')`;
  // A record of JSON lines has one line; line breaks can only be between tokens of a value.
  const strict = `CAST(regexp_replace(${text}, '[\\r\\n]+', ' ', 'g') AS JSON)`;
  return `CASE WHEN regexp_matches(${bare}, '${LENIENT}') THEN to_json(${text}) ELSE ${strict} END`;
}

function plainSql(type: DuckDBType, place: string): string {
  if (type.typeId === DuckDBTypeId.DOUBLE) return finite(place);
  // Formatted as a double, so that a value such as 0.1 is the same in every answer.
  if (type.typeId === DuckDBTypeId.FLOAT) return finite(`CAST(${place} AS DOUBLE)`);
  if (type.typeId === DuckDBTypeId.TIMESTAMP_NS) return nanosecondText(place);
  return INSTANTS.has(type.typeId) ? instantSql(place) : place;
}

const finite = (value: string): string => `CASE WHEN isfinite(${value}) THEN ${value} END`;

/** `2024-02-29T23:59:59.123Z`, with six digits only where the microseconds need them. */
function instantSql(place: string): string {
  const instant = `CAST(${place} AS TIMESTAMP)`;
  const short = `strftime(${instant}, '%Y-%m-%dT%H:%M:%S.%gZ')`;
  const long = `strftime(${instant}, '%Y-%m-%dT%H:%M:%S.%fZ')`;
  return `CASE WHEN epoch_us(${instant}) % 1000 = 0 THEN ${short} ELSE ${long} END`;
}
