// Statements that read the lines that read_csv rejected, from tables of the connection.

/** Options with the tables in which read_csv stores rejected lines. */
export const REJECT_TABLES = `rejects_table = 'rejected', rejects_scan = 'rejected_scan'`;

/** The leftmost fault of a line is reported, so that the result does not depend on threads. */
const PLACE = 'coalesce(column_idx, 0)';

/**
 * Rejected lines after a statement with `from(…)`: their count, and the first ones. If the count is 0, the
 * second statement is skipped: its planning takes a tenth of DuckDB's time for a small load.
 */
export const rejectStatements = (most: number): readonly string[] => [
  'SELECT count(DISTINCT line) AS lines FROM rejected',
  `SELECT line, arg_min(column_name, ${PLACE}) AS "column", arg_min(error_type, ${PLACE}) AS type,
    arg_min(error_message, ${PLACE}) AS message
    FROM rejected GROUP BY line ORDER BY line LIMIT ${most}`,
];

/** Maximum rejected lines that are read to shift the line numbers of the records after them. */
const UNREAD_LINES_MAX = 1_000;

/** The first of these lines, after a statement with `from(…)`. */
export const UNREAD_LINES = `SELECT DISTINCT line FROM rejected ORDER BY line LIMIT ${UNREAD_LINES_MAX}`;
