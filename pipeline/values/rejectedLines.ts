// Lines that read_csv could not read, as it leaves them in tables of the connection.

/** Tables in which read_csv leaves the lines that it could not read. */
export const REJECT_TABLES = `rejects_table = 'rejected', rejects_scan = 'rejected_scan'`;

/** Of one line the leftmost fault is told: the same one whichever thread met it first. */
const PLACE = 'coalesce(column_idx, 0)';

/**
 * Rejected lines after a statement with `from(…)`: all of them counted, the first ones told. Where there are
 * none the rest need not be asked: planning them is a tenth of what a small load asks of DuckDB.
 */
export const rejectStatements = (most: number): readonly string[] => [
  'SELECT count(DISTINCT line) AS lines FROM rejected',
  `SELECT line, arg_min(column_name, ${PLACE}) AS "column", arg_min(error_type, ${PLACE}) AS type,
    arg_min(error_message, ${PLACE}) AS message
    FROM rejected GROUP BY line ORDER BY line LIMIT ${most}`,
];

/** Lines that are looked at where each that was not read moves the lines of the records behind it. */
const UNREAD_LINES_MAX = 1_000;

/** The first of these lines, after a statement with `from(…)`. */
export const UNREAD_LINES = `SELECT DISTINCT line FROM rejected ORDER BY line LIMIT ${UNREAD_LINES_MAX}`;
