// Bounds the bytes that an answer is paid by, from its columns alone: known before it is run, and the
// same whatever its format.
import { BODY_BYTES_MAX } from '../../../store/duckdb/protocol.ts';
import { ofOneRecord } from '../reads/oneRecord.ts';
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
/** A text of one record counts as no more: in a series it costs nothing beside its record. */
const TEXT_BYTES = 256;

/** The most bytes that an answer of so many rows is paid by. */
export function paidBytesMost(
  bound: BoundPlan,
  columns: readonly SqlColumn[],
  rows: number,
): number {
  if (rows === 0) return 2;
  const texts = ofOneRecord(bound);
  const values = columns.map(({ name, type }, at) => {
    const named = Buffer.byteLength(JSON.stringify(name)) + 1;
    if (type.startsWith('DECIMAL(')) return named + DECIMAL_BYTES;
    const isText = type === 'VARCHAR' || type === 'JSON';
    // Columns that the system adds are behind those of the query, and of one record.
    const isOne = texts !== undefined && (texts[at] ?? bound.system);
    return named + (BYTES_OF[type] ?? (isText && isOne ? TEXT_BYTES : Infinity));
  });
  // Two brackets, and two braces and a comma for each row.
  const row = values.reduce((sum, bytes) => sum + bytes, 3);
  return Math.min(BODY_BYTES_MAX, rows * row + 2);
}
