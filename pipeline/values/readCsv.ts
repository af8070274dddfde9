// The table function that reads a CSV with cells in double quotes.
import { literal } from '../../store/duckdb/sqlText.ts';
import { REJECT_TABLES } from './rejectedLines.ts';

/** read_csv would take 16 lines as its buffer: small ones read slowly. */
const BUFFER_BYTES = 32_000_000;

interface CsvText {
  readonly path: string;
  readonly delimiter: string;
  readonly skip?: number;
  readonly headerless?: true;
}

/**
 * @param columns with their types in SQL
 * @param bytesMax of a line
 */
export function readCsv(
  { delimiter, headerless, path, skip = 0 }: CsvText,
  columns: readonly { readonly name: string; readonly type: string }[],
  bytesMax: number,
): string {
  const typed = columns.map(({ name, type }) => `${literal(name)}: '${type}'`);
  const texts = columns.filter(({ type }) => type === 'VARCHAR').map(({ name }) => literal(name));
  return `read_csv(${literal(path)}, auto_detect = false, header = ${headerless !== true}, skip = ${skip},
    delim = ${literal(delimiter)}, quote = '"', escape = '"', columns = {${typed.join(', ')}},
    force_not_null = [${texts.join(', ')}], store_rejects = true, rejects_limit = 0,
    max_line_size = ${bytesMax}, buffer_size = ${BUFFER_BYTES}, ${REJECT_TABLES})`;
}
