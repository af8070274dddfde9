// Parquet brings its own types; ours are chosen from them.
import {
  checkPropertyNames,
  parseSqlType,
  propertyOf as columnProperty,
  type PropertyType,
} from '../../store/lake/versions/columns.ts';
import { parseDecimal } from '../../store/lake/versions/decimals.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Row } from '../../store/duckdb/protocol.ts';
import type { Relation } from '../values/relation.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

export const describeParquet = (path: string): string =>
  `DESCRIBE SELECT * FROM read_parquet(${literal(path)})`;

/** The relation of a Parquet file from the rows of `describeParquet`. */
export function parquetRelation(path: string, described: readonly Row[]): Relation {
  checkPropertyNames(
    'the file',
    described.map((row) => String(row['column_name'])),
  );
  const columns = described.map((row) => {
    const name = String(row['column_name']);
    const type = String(row['column_type']);
    const own = OWN.get(type);
    const property = propertyOf(type, name);
    const inferred = { property, spelling: undefined, numeric: undefined };
    return { name, inferred: own === undefined ? inferred : { ...inferred, own } };
  });
  return { kind: 'parquet', path, columns };
}

/** Types whose values mostly fit a narrower one, which every reader knows. */
const OWN: ReadonlyMap<string, PropertyType> = new Map([
  ['UBIGINT', columnProperty('int128')],
  ['TIMESTAMP_NS', columnProperty('timestamp_ns')],
]);

function propertyOf(type: string, name: string): PropertyType {
  if (/\[\d*\]$/.test(type)) return { type: 'array' };
  if (/^(U?(TINY|SMALL|BIG)INT|U?INTEGER)$/.test(type)) return { type: 'integer' };
  if (parseDecimal(type) !== undefined) return columnProperty(parseSqlType(type) ?? 'float64');
  if (/^(FLOAT|DOUBLE|U?HUGEINT)$/.test(type)) return { type: 'number' };
  if (type === 'BOOLEAN') return { type: 'boolean' };
  if (type === 'DATE') return { type: 'string', format: 'date' };
  if (type.startsWith('TIMESTAMP')) return { type: 'string', format: 'date-time' };
  if (type === 'TIME' || type === 'TIME_NS') return { type: 'string', format: 'time' };
  if (/^(STRUCT|MAP)/.test(type)) return { type: 'object' };
  // A time with an offset is of no zone that a time of day could keep.
  if (/^(VARCHAR|UUID|TIME WITH TIME ZONE|ENUM.*|JSON)$/.test(type)) return { type: 'string' };
  throw new Failure('InvalidBody', `column ${name} has type ${type}, which records can not hold`);
}
