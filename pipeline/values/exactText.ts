// A text as the value of a property, in SQL: exactly, or not at all.
import { type ColumnType, SQL_TYPES } from '../../store/lake/versions/columns.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

/** A time of the day, to the microsecond; zeros behind that are none the less exact. */
const CLOCK = String.raw`([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6}0*)?)?`;

/**
 * Text as a value, exactly: DuckDB's own casts round `12.75` to 13 and `1e-7` to 0, cut a time off its
 * date, a day off its time, and pass over the offset of a timestamp.
 */
export function castText(text: string, type: ColumnType): string {
  if (type === 'int64') {
    const whole = `TRY_CAST(${text} AS BIGINT)`;
    const signs = ['.', 'e', 'E'].map((sign) => `contains(${text}, '${sign}')`).join(' OR ');
    const rounded = `(${signs}) AND TRY_CAST(${text} AS DOUBLE) <> ${whole}`;
    return `CASE WHEN ${rounded} THEN NULL ELSE ${whole} END`;
  }
  if (type === 'timestamp') return `CAST(TRY_CAST(${text} AS TIMESTAMPTZ) AS TIMESTAMP)`;
  if (type === 'time') {
    const isClock = `regexp_full_match(CAST(${text} AS VARCHAR), ${literal(CLOCK)})`;
    return `CASE WHEN ${isClock} THEN TRY_CAST(${text} AS TIME) END`;
  }
  if (type !== 'date') return `TRY_CAST(${text} AS ${SQL_TYPES[type]})`;
  const day = `TRY_CAST(${text} AS DATE)`;
  const midnight = `TRY_CAST(${text} AS TIMESTAMP) = ${day}`;
  return `CASE WHEN length(${text}) = 10 THEN ${day} WHEN ${midnight} THEN ${day} END`;
}
