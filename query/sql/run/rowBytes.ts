// Bounds the bytes for which an answer is charged, from its columns alone: known before it is run, and the
// same for every format.
import { BODY_BYTES_MAX } from '../../../store/duckdb/protocol.ts';
import { findSingleRecordColumns } from '../pricing/oneRecord.ts';
import type { BoundPlan, SqlColumn } from './run.ts';

/** Most bytes of a value in JSON, its comma and quotes included. */
const BYTES_OF: Readonly<Record<string, number>> = {
  BOOLEAN: 6,
  TINYINT: 6,
  SMALLINT: 8,
  INTEGER: 13,
  BIGINT: 24,
  HUGEINT: 44,
  DOUBLE: 26,
  FLOAT: 26,
  DATE: 16,
  TIME: 19,
  TIMESTAMP: 32,
  TIMESTAMP_NS: 36,
};
/** A decimal has at most 38 digits, a sign, a point, quotes and a comma. */
const DECIMAL_BYTES = 44;
/** Maximum for a text of one record: in a series it costs nothing in addition to its record. */
const TEXT_BYTES = 256;

/** Returns the maximum number of bytes for which an answer of so many rows is charged. */
export function maxPaidBytes(
  bound: BoundPlan,
  columns: readonly SqlColumn[],
  rows: number,
): number {
  if (rows === 0) return 2;
  const texts = findSingleRecordColumns(bound);
  const values = columns.map(({ name, type }, at) => {
    const named = Buffer.byteLength(JSON.stringify(name)) + 1;
    if (type.startsWith('DECIMAL(')) return named + DECIMAL_BYTES;
    const isText = type === 'VARCHAR' || type === 'JSON';
    // Columns that the system adds come after those of the query, and are of one record.
    const isOne = texts !== undefined && (texts[at] ?? bound.system);
    return named + (BYTES_OF[type] ?? (isText && isOne ? TEXT_BYTES : Infinity));
  });
  // Two brackets, and two braces and a comma for each row.
  const row = values.reduce((sum, bytes) => sum + bytes, 3);
  return Math.min(BODY_BYTES_MAX, rows * row + 2);
}
