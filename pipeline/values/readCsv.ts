// The table function that reads a CSV with cells in double quotes. Cells are texts: DuckDB's own types accept
// more than ours (exactText.ts).
import { literal } from '../../store/duckdb/sqlText.ts';
import { REJECT_TABLES } from './rejectedLines.ts';

/** By default read_csv uses 16 lines as its buffer: a small buffer reads slowly. */
const BUFFER_BYTES = 32_000_000;

interface CsvText {
  readonly path: string;
  readonly delimiter: string;
  readonly skip?: number;
  readonly headerless?: true;
  readonly endsInFeeds?: true;
}

/** @param bytesMax of a line */
export function readCsv(
  { delimiter, endsInFeeds, headerless, path, skip = 0 }: CsvText,
  columns: readonly string[],
  bytesMax: number,
): string {
  const texts = columns.map(literal);
  const typed = texts.map((name) => `${name}: 'VARCHAR'`);
  // Otherwise a carriage return in quotes is an error.
  const end = endsInFeeds === true ? String.raw`new_line = '\n',` : '';
  return `read_csv(${literal(path)}, auto_detect = false, header = ${headerless !== true}, skip = ${skip},
    delim = ${literal(delimiter)}, ${end} quote = '"', escape = '"', columns = {${typed.join(', ')}},
    force_not_null = [${texts.join(', ')}], store_rejects = true, rejects_limit = 0,
    max_line_size = ${bytesMax}, buffer_size = ${BUFFER_BYTES}, ${REJECT_TABLES})`;
}
