// Quotes names and texts for SQL. It has no imports, so that code that only writes SQL does not load DuckDB.

/** Quotes a text as an SQL literal. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Quotes a name as an SQL identifier. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** SQL that formats a TIMESTAMP_NS as in answers: with three, six or nine fractional digits. */
export function nanosecondText(value: string): string {
  const count = `epoch_ns(${value})`;
  // DuckDB's own cast to microseconds rounds towards 1970.
  const rest = `((${count} % 1000 + 1000) % 1000)`;
  const instant = `make_timestamp((${count} - ${rest}) // 1000)`;
  const spelled = (fraction: string): string =>
    `strftime(${instant}, '%Y-%m-%dT%H:%M:%S.${fraction}')`;
  return `CASE WHEN ${rest} <> 0 THEN ${spelled('%f')} || lpad(CAST(${rest} AS VARCHAR), 3, '0') || 'Z'
    WHEN epoch_us(${instant}) % 1000 = 0 THEN ${spelled('%g')} || 'Z'
    ELSE ${spelled('%f')} || 'Z' END`;
}
