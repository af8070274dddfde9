// CSV, TSV and PSV: the head of the file tells delimiter, header and a first guess at types; the
// rest of the file is DuckDB's, which corrects the guess (ingest.ts widens what does not fit). The head
// is read in slices, between which the event loop serves others.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { finished } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { checkPropertyNames } from '../store/columns.ts';
import { Failure, reasonOf } from '../store/failure.ts';
import { HEAD_BYTES } from './content.ts';
import type { DateOrder } from './dateFormats.ts';
import { type Inferred, inferType } from './infer.ts';
import type { Relation } from './relation.ts';

const DELIMITERS = [',', '\t', '|', ';'] as const;
/** Rows of the head that are looked at, and cells at most. */
const SAMPLE_ROWS = 10_000;
const SAMPLE_CELLS = 400_000;
/** Characters that are parsed, and cells that are looked at, in one turn of the loop: 10 ms at most. */
const SLICE_CHARACTERS = 16 * 1024;
const SLICE_CELLS = 10_000;

export async function csvRelation(
  path: string,
  head: Buffer,
  order?: DateOrder,
): Promise<Relation> {
  const text = wholeLines(head);
  const delimiter = await delimiterOf(text);
  const rows = await parseRows(text, delimiter, SAMPLE_ROWS + 1);
  const header = rows[0] ?? [];
  checkPropertyNames('the header', header);
  const most = Math.min(SAMPLE_ROWS, Math.ceil(SAMPLE_CELLS / header.length));
  const sample = rows.slice(1, most + 1).filter((row) => row.length === header.length);
  const columns: { readonly name: string; readonly inferred: Inferred }[] = [];
  for (const [index, name] of header.entries()) {
    const values = sample.map((row) => row[index] ?? '');
    columns.push({ name, inferred: inferType(values, order) });
    if ((index * sample.length) % SLICE_CELLS < sample.length) await othersTurn();
  }
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
async function delimiterOf(text: string): Promise<string> {
  const counts: { readonly delimiter: string; readonly columns: number }[] = [];
  for (const delimiter of DELIMITERS) {
    const rows = await firstRecords(text, delimiter);
    const columns = rows[0]?.length ?? 0;
    const even = rows.length < 2 || rows[1]?.length === columns;
    counts.push({ delimiter, columns: even ? columns : columns / DELIMITERS.length });
  }
  return counts.sort((a, b) => b.columns - a.columns)[0]?.delimiter ?? ',';
}

/** Header and first record, line breaks inside quotes and all; nothing where it can't be read. */
async function firstRecords(text: string, delimiter: string): Promise<Rows> {
  try {
    return await parseRows(text, delimiter, 2);
  } catch {
    return [];
  }
}

type Rows = readonly (readonly string[])[];

/**
 * Up to `most` rows; of a whole head those before what is cut off, such as a quoted cell at its end.
 * @throws Failure InvalidBody where there is none.
 */
async function parseRows(text: string, delimiter: string, most: number): Promise<Rows> {
  const rows: string[][] = [];
  const parser = parse({
    delimiter,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    to: most,
  });
  parser.on('data', (row: string[]) => rows.push(row));
  let fault: unknown;
  parser.once('error', (error) => (fault = error));
  for (let at = 0; at < text.length && rows.length < most; at += SLICE_CHARACTERS) {
    if (parser.destroyed) break;
    parser.write(text.slice(at, at + SLICE_CHARACTERS));
    await othersTurn();
  }
  if (!parser.destroyed) {
    parser.end();
    await finished(parser).catch((error: unknown) => (fault = error));
  }
  const isCut = text.length > HEAD_BYTES / 2 && rows.length > 0;
  if (fault === undefined || isCut) return rows;
  throw new Failure('InvalidBody', `the body is not CSV: ${reasonOf(fault)}`);
}
