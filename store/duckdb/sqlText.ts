// Names and texts as SQL spells them. Loads nothing: who only writes SQL needs no DuckDB.

/** A text as a SQL literal. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A name as a quoted SQL identifier. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A TIMESTAMP_NS as answers have it: with three, six or nine digits behind the second. */
export function nanosecondText(value: string): string {
  const count = `epoch_ns(${value})`;
  // DuckDB's own cast to microseconds goes towards 1970.
  const rest = `((${count} % 1000 + 1000) % 1000)`;
  const instant = `make_timestamp((${count} - ${rest}) // 1000)`;
  const spelled = (fraction: string): string =>
    `strftime(${instant}, '%Y-%m-%dT%H:%M:%S.${fraction}')`;
  return `CASE WHEN ${rest} <> 0 THEN ${spelled('%f')} || lpad(CAST(${rest} AS VARCHAR), 3, '0') || 'Z'
    WHEN epoch_us(${instant}) % 1000 = 0 THEN ${spelled('%g')} || 'Z'
    ELSE ${spelled('%f')} || 'Z' END`;
}
