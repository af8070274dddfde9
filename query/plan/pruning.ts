// Selects the files that may hold matching records, and orders them, by the catalog's least and greatest
// values.
import { type Column, isExactNumber } from '../../store/lake/versions/columns.ts';
import { isPlainDecimal } from '../../store/lake/versions/decimals.ts';
import type { DataFile } from '../../store/lake/versions/lakeRead.ts';
import { compareValues } from '../../store/lake/tableStats.ts';

export interface Condition {
  readonly column: Column;
  readonly operator: '=' | '>=' | '<=' | '<';
  /** A record matches if any of them does; more than one only with `=`. */
  readonly values: readonly string[];
}

export function mayHold(file: DataFile, { column, operator, values }: Condition): boolean {
  const range = file.ranges.get(column.id);
  const { min, max } = range ?? { min: null, max: null };
  if (min === null || max === null) return true;
  if (column.type === 'int64' && !values.every((value) => /^-?\d+$/.test(value))) return true;
  if (isExactNumber(column.type) && !values.every(isPlainDecimal)) return true;
  const above = (value: string): boolean => compareValues(column.type, value, min) >= 0;
  const below = (value: string): boolean => compareValues(column.type, value, max) <= 0;
  if (operator === '=') return values.some((value) => above(value) && below(value));
  return values.every(operator === '>=' ? below : above);
}

/**
 * Sorts files so that those with the first records of an order come first: once DuckDB has as many records
 * as it needs, it skips groups of rows that have only later ones.
 */
export function sortFilesByEnd(
  files: readonly DataFile[],
  { id, type }: Column,
  order: 'asc' | 'desc',
): readonly DataFile[] {
  const end = order === 'asc' ? 'min' : 'max';
  const sign = order === 'asc' ? 1 : -1;
  const ends = new Map(files.map((file) => [file, file.ranges.get(id)?.[end] ?? null]));
  return [...files].sort((one, other) => {
    const [a, b] = [ends.get(one) ?? null, ends.get(other) ?? null];
    // A file without statistics may hold any value, so it comes first.
    if (a === null || b === null) return Number(a !== null) - Number(b !== null);
    return sign * compareValues(type, a, b);
  });
}
