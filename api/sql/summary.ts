// SUMMARIZE: what each column of a table or a query has, as a query of the subset that reads it once. It
// costs what that query costs.
import { Failure } from '../../store/base/failure.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

/** Aggregates of so many columns are one row. */
const COLUMNS_MAX = 100;

const NUMBER = /^(?:U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL)(?:\(|$)/;

interface Column {
  readonly name: string;
  /** DuckDB's word for it. */
  readonly type: string;
}

interface Figure {
  readonly name: string;
  readonly of: (column: string, type: string) => string;
}

const ofNumbers =
  (aggregate: (column: string) => string): Figure['of'] =>
  (column, type) =>
    NUMBER.test(type) ? `CAST(${aggregate(column)} AS DOUBLE)` : 'CAST(NULL AS DOUBLE)';

const bound =
  (aggregate: 'min' | 'max'): Figure['of'] =>
  (column) =>
    `CAST(${aggregate}(${column}) AS VARCHAR)`;

/** As DuckDB names them, in its order. */
const FIGURES: readonly Figure[] = [
  { name: 'min', of: bound('min') },
  { name: 'max', of: bound('max') },
  { name: 'approx_unique', of: (column) => `approx_count_distinct(${column})` },
  { name: 'avg', of: ofNumbers((column) => `avg(${column})`) },
  { name: 'std', of: ofNumbers((column) => `stddev_samp(${column})`) },
  { name: 'q25', of: ofNumbers((column) => `quantile_cont(${column}, 0.25)`) },
  { name: 'q50', of: ofNumbers((column) => `quantile_cont(${column}, 0.5)`) },
  { name: 'q75', of: ofNumbers((column) => `quantile_cont(${column}, 0.75)`) },
  { name: 'count', of: () => 'count(*)' },
  {
    name: 'null_percentage',
    of: (column) => `round(100.0 * (count(*) - count(${column})) / nullif(count(*), 0), 2)`,
  },
];

/**
 * @param query a SELECT with these columns, in their order
 * @throws Failure InvalidParameter past the number of columns.
 */
export function summaryOf(query: string, columns: readonly Column[]): string {
  if (columns.length > COLUMNS_MAX) {
    const rule = `at most ${COLUMNS_MAX} columns at once: SUMMARIZE SELECT some of them`;
    throw new Failure('InvalidParameter', `"sqlQuery": ${columns.length} columns, ${rule}`);
  }
  const inner = columns.map((_, at) => `c${at}`);
  const folded = columns.flatMap(({ type }, at) =>
    FIGURES.map(({ of }, figure) => `${of(`t.c${at}`, type)} AS f${at}_${figure}`),
  );
  const chosen = FIGURES.map(({ name }, figure) => {
    const arms = columns.map((_, at) => `WHEN ${at} THEN s.f${at}_${figure}`);
    return `CASE n.place ${arms.join(' ')} END AS \`${name}\``;
  });
  const names = columns.map(({ name, type }, at) => `(${at}, ${literal(name)}, ${literal(type)})`);
  // A comment may end the query: what follows stands in a line of its own.
  return `WITH s AS MATERIALIZED (SELECT ${folded.join(', ')} FROM (${query}
) AS t(${inner.join(', ')}))
SELECT n.column_name, n.column_type, ${chosen.join(', ')}
FROM s CROSS JOIN (VALUES ${names.join(', ')}) AS n(place, column_name, column_type) ORDER BY n.place`;
}
