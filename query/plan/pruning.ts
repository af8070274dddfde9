// Which files may hold a wanted record, by the catalog's least and greatest values.
import type { Column } from '../../store/versions/columns.ts';
import type { DataFile } from '../../store/versions/lakeRead.ts';
import { compareValues } from '../../store/lake/tableStats.ts';

export interface Condition {
  readonly column: Column;
  readonly operator: '=' | '>=' | '<=' | '<';
  /** Any of them fits; more than one only with `=`. */
  readonly values: readonly string[];
}

export function mayHold(file: DataFile, { column, operator, values }: Condition): boolean {
  const range = file.ranges.get(column.id);
  const { min, max } = range ?? { min: null, max: null };
  if (min === null || max === null) return true;
  if (column.type === 'int64' && !values.every((value) => /^-?\d+$/.test(value))) return true;
  const above = (value: string): boolean => compareValues(column.type, value, min) >= 0;
  const below = (value: string): boolean => compareValues(column.type, value, max) <= 0;
  if (operator === '=') return values.some((value) => above(value) && below(value));
  return values.every(operator === '>=' ? below : above);
}
