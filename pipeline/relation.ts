// A file as a relation: what DuckDB reads, and how each dataset property comes out of it.
import { type Column, SQL_TYPES } from '../store/columns.ts';
import { identifier, literal } from '../store/duckdb/instance.ts';
import type { Inferred } from './infer.ts';

/** A column of the file as it is read. */
interface SourceColumn {
  readonly name: string;
  readonly inferred: Inferred;
}

export interface Relation {
  readonly kind: 'csv' | 'parquet';
  readonly path: string;
  readonly columns: readonly SourceColumn[];
  /** CSV only. */
  readonly delimiter: string;
}

/** Tables in which read_csv leaves the lines that it could not read. */
const REJECT_TABLES = `rejects_table = 'rejected', rejects_scan = 'rejected_scan'`;

/** Rejected lines after a statement with `from(…)`: all of them counted, the first ones told. */
export const rejectStatements = (most: number): readonly string[] => [
  'SELECT count(DISTINCT line) AS lines FROM rejected',
  `SELECT line, any_value(column_name) AS "column", any_value(error_type) AS type,
    any_value(error_message) AS message FROM rejected GROUP BY line ORDER BY line LIMIT ${most}`,
  `SELECT DISTINCT column_name AS "column" FROM rejected WHERE error_type = 'CAST'`,
];

/** The table function that reads the file, its columns typed as far as DuckDB's casts go. */
export function fromClause(relation: Relation, targets: readonly Column[]): string {
  if (relation.kind === 'parquet') return `read_parquet(${literal(relation.path)})`;
  const byName = new Map(targets.map((column) => [column.name, column]));
  const columns = relation.columns.map(({ name, inferred }) => {
    const target = byName.get(name);
    const type = target === undefined || spelledDate(inferred) ? 'VARCHAR' : readType(target);
    return { name, type };
  });
  const typed = columns.map(({ name, type }) => `${literal(name)}: '${type}'`);
  const texts = columns.filter(({ type }) => type === 'VARCHAR').map(({ name }) => literal(name));
  const delimiter = literal(relation.delimiter);
  return `read_csv(${literal(relation.path)}, auto_detect = false, header = true,
    delim = ${delimiter}, quote = '"', escape = '"', columns = {${typed.join(', ')}},
    force_not_null = [${texts.join(', ')}], store_rejects = true, rejects_limit = 0,
    ${REJECT_TABLES})`;
}

const readType = (column: Column): string =>
  column.type === 'json' ? 'VARCHAR' : SQL_TYPES[column.type];

const spelledDate = (inferred: Inferred): boolean => inferred.spelling?.strptime !== undefined;

/**
 * The property's value from the file's row. `strict` raises an error that names the column where a
 * value does not fit; otherwise such a value is NULL and `misfit` tells it.
 */
export function valueOf(relation: Relation, target: Column, strict: boolean): string {
  const source = relation.columns.find(({ name }) => name === target.name);
  if (source === undefined) return `CAST(NULL AS ${SQL_TYPES[target.type]})`;
  const cast = castOf(relation, source, target);
  if (cast === undefined) return identifier(target.name);
  const text = identifier(target.name);
  const given = relation.kind === 'csv' ? `nullif(${text}, '')` : text;
  if (!strict) return `(${cast})`;
  const failed = `error(${literal(`${MISFIT_MARK}${target.name}`)})`;
  return `CASE WHEN ${given} IS NULL THEN NULL ELSE coalesce(${cast}, ${failed}) END`;
}

/** True where the property has a value in the file that does not fit; undefined when none can. */
export function misfit(relation: Relation, target: Column): string | undefined {
  const source = relation.columns.find(({ name }) => name === target.name);
  const cast = source === undefined ? undefined : castOf(relation, source, target);
  if (cast === undefined) return undefined;
  const text = identifier(target.name);
  const given = relation.kind === 'csv' ? `nullif(${text}, '')` : text;
  return `${given} IS NOT NULL AND ${cast} IS NULL`;
}

/** Begins the message of an error that `valueOf` raised; the column's name follows. */
export const MISFIT_MARK = 'value does not fit property ';

function castOf(relation: Relation, source: SourceColumn, target: Column): string | undefined {
  const name = identifier(target.name);
  const type = SQL_TYPES[target.type];
  const { spelling } = source.inferred;
  if (relation.kind === 'csv') {
    if (target.type === 'json') return `TRY_CAST(nullif(${name}, '') AS JSON)`;
    if (spelling?.strptime === undefined || target.type === 'varchar') return undefined;
    return `TRY_CAST(try_strptime(${name}, ${literal(spelling.strptime)}) AS ${type})`;
  }
  if (target.type === 'json') return `to_json(${name})`;
  return `TRY_CAST(${name} AS ${type})`;
}
