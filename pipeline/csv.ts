// CSV, TSV and PSV: the head of the file tells delimiter, header and a first guess at types; the
// rest of the file is DuckDB's, which corrects the guess (ingest.ts widens what does not fit).
import { parse } from 'csv-parse/sync';
import { checkPropertyNames } from '../store/columns.ts';
import { Failure, reasonOf } from '../store/failure.ts';
import { HEAD_BYTES } from './content.ts';
import type { DateOrder } from './dateFormats.ts';
import { inferType } from './infer.ts';
import type { Relation } from './relation.ts';

const DELIMITERS = [',', '\t', '|', ';'] as const;
/** Rows of the head that are looked at, and cells at most: inference stays below 50 ms. */
const SAMPLE_ROWS = 10_000;
const SAMPLE_CELLS = 400_000;

export function csvRelation(path: string, head: Buffer, order?: DateOrder): Relation {
  const text = wholeLines(head);
  const delimiter = delimiterOf(text);
  const rows = parseRows(text, delimiter, SAMPLE_ROWS + 1);
  const header = rows[0] ?? [];
  checkPropertyNames('the header', header);
  const most = Math.min(SAMPLE_ROWS, Math.ceil(SAMPLE_CELLS / header.length));
  const sample = rows.slice(1, most + 1).filter((row) => row.length === header.length);
  const columns = header.map((name, index) => ({
    name,
    inferred: inferType(
      sample.map((row) => row[index] ?? ''),
      order,
    ),
  }));
  return { kind: 'csv', path, columns, delimiter };
}

/** Without the last, possibly cut, line and without a byte order mark. */
function wholeLines(head: Buffer): string {
  const text = head.toString('utf8').replace(/^\uFEFF/, '');
  if (head.length < HEAD_BYTES) return text;
  const end = text.lastIndexOf('\n');
  if (end < 0) throw new Failure('InvalidBody', `the first line is over ${HEAD_BYTES} bytes`);
  return text.slice(0, end + 1);
}

/** The delimiter that splits the header into most columns, and the next line into as many. */
function delimiterOf(text: string): string {
  const counts = DELIMITERS.map((delimiter) => {
    const rows = firstRecords(text, delimiter);
    const columns = rows[0]?.length ?? 0;
    const even = rows.length < 2 || rows[1]?.length === columns;
    return { delimiter, columns: even ? columns : columns / DELIMITERS.length };
  });
  return counts.sort((a, b) => b.columns - a.columns)[0]?.delimiter ?? ',';
}

/** Header and first record, line breaks inside quotes and all; nothing where it can't be read. */
function firstRecords(text: string, delimiter: string): readonly (readonly string[])[] {
  try {
    return parseRows(text, delimiter, 2);
  } catch {
    return [];
  }
}

function parseRows(text: string, delimiter: string, most: number): readonly (readonly string[])[] {
  try {
    return parse(text, {
      delimiter,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      to: most,
    });
  } catch (error) {
    // The head may end inside a quoted cell; the rows before it are enough.
    const cut = text.lastIndexOf('\n', text.length - 2);
    if (cut > 0 && text.length > HEAD_BYTES / 2)
      return parseRows(text.slice(0, cut + 1), delimiter, most);
    throw new Failure('InvalidBody', `the body is not CSV: ${reasonOf(error)}`);
  }
}
