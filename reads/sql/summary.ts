// Rewrites SUMMARIZE to a query that reads each column once and aggregates it, at the price of that query.
import { Failure } from '../../store/base/failure.ts';
import { literal } from '../../store/duckdb/sqlText.ts';

/** Maximum columns whose aggregates fit in one row. */
const COLUMNS_MAX = 100;

const NUMBER = /^(?:U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL)(?:\(|$)/;

interface Column {
  readonly name: string;
  /** DuckDB's name of the type. */
  readonly type: string;
}

interface Figure {
  readonly name: string;
  readonly of: (column: string, type: string) => string;
}

const numberFigure =
  (aggregate: (column: string) => string): Figure['of'] =>
  (column, type) =>
    NUMBER.test(type) ? `CAST(${aggregate(column)} AS DOUBLE)` : 'CAST(NULL AS DOUBLE)';

const boundFigure =
  (aggregate: 'min' | 'max'): Figure['of'] =>
  (column) =>
    `CAST(${aggregate}(${column}) AS VARCHAR)`;

/** The figures of DuckDB's SUMMARIZE, with its names and order. */
const FIGURES: readonly Figure[] = [
  { name: 'min', of: boundFigure('min') },
  { name: 'max', of: boundFigure('max') },
  { name: 'approx_unique', of: (column) => `approx_count_distinct(${column})` },
  { name: 'avg', of: numberFigure((column) => `avg(${column})`) },
  { name: 'std', of: numberFigure((column) => `stddev_samp(${column})`) },
  { name: 'q25', of: numberFigure((column) => `quantile_cont(${column}, 0.25)`) },
  { name: 'q50', of: numberFigure((column) => `quantile_cont(${column}, 0.5)`) },
  { name: 'q75', of: numberFigure((column) => `quantile_cont(${column}, 0.75)`) },
  { name: 'count', of: () => 'count(*)' },
  {
    name: 'null_percentage',
    of: (column) => `round(100.0 * (count(*) - count(${column})) / nullif(count(*), 0), 2)`,
  },
];

/**
 * Builds the summary query.
 * @param query a SELECT with these columns, in their order
 * @throws Failure InvalidParameter above the maximum number of columns.
 */
export function buildSummaryQuery(query: string, columns: readonly Column[]): string {
  if (columns.length > COLUMNS_MAX) {
    const rule = `at most ${COLUMNS_MAX} columns at once: SUMMARIZE SELECT some of them`;
    throw new Failure('InvalidParameter', `"sqlQuery": ${columns.length} columns, ${rule}`);
  }
  const inner = columns.map((_, at) => `c${at}`);
  const aggregates = columns.flatMap(({ type }, at) =>
    FIGURES.map(({ of }, figure) => `${of(`t.c${at}`, type)} AS f${at}_${figure}`),
  );
  const chosen = FIGURES.map(({ name }, figure) => {
    const arms = columns.map((_, at) => `WHEN ${at} THEN s.f${at}_${figure}`);
    return `CASE n.place ${arms.join(' ')} END AS \`${name}\``;
  });
  const names = columns.map(({ name, type }, at) => `(${at}, ${literal(name)}, ${literal(type)})`);
  // A comment may end the query, so the rest starts on a new line.
  return `WITH s AS MATERIALIZED (SELECT ${aggregates.join(', ')} FROM (${query}
) AS t(${inner.join(', ')}))
SELECT n.column_name, n.column_type, ${chosen.join(', ')}
FROM s CROSS JOIN (VALUES ${names.join(', ')}) AS n(place, column_name, column_type) ORDER BY n.place`;
}
