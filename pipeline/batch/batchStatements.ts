// The statements that a batch's ways share: what is selected of a file, how it is asked, and what the
// answers mean.
import { isoTime } from '../../store/base/clock.ts';
import { type ColumnType, isSystemColumn, ROW_COLUMN } from '../../store/lake/versions/columns.ts';
import type { Row } from '../../store/duckdb/protocol.ts';
import { Failure, isDiskFull, reasonOf, toldFull } from '../../store/base/failure.ts';
import type { Reject } from '../../store/work/jobs.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import {
  INDEX_BYTES_MAX,
  MISFIT,
  RECORD_TOO_LARGE,
  type Relation,
  valueOf,
} from '../values/relation.ts';
import type { BatchRequest } from './batchRequest.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import type { Workbench } from '../bytes/workbench.ts';

/** The place of a record in its file, from 1. */
export const NUMBER = '_system_number';
/** Why a record is refused; null in a good one. */
export const FAULT = '_system_fault';

/** @param order of the dates that the column was said to have */
export const typeError = (name: string, type: ColumnType, order?: DateOrder): string => {
  const wanted =
    order === undefined ? TYPE_WORDS[type] : `${TYPE_WORDS[type]} in the order ${order}`;
  return `validation failed: property '${name}' should be ${wanted}`;
};

/** Characters of a value that is told with the reason why its record is refused. */
const SHOWN_CHARACTERS = 60;

/** The value of a column of the file as it is told, as an expression. */
export const shownValue = (name: string): string =>
  `to_json(left(CAST(${identifier(name)} AS VARCHAR), ${SHOWN_CHARACTERS}))`;

/** Column types in the words of JSON schema, which owners write. */
const TYPE_WORDS: Readonly<Record<ColumnType, string>> = {
  int64: 'integer',
  float64: 'number',
  varchar: 'string',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'date-time',
  time: 'time',
  json: 'object or array',
};

/** The select list: the owner's properties from the file, the system's from this run. */
export function selection(
  { relation, columns, firstRow, index, lenient, nowMs }: BatchRequest,
  strict: boolean,
): string {
  // Pushed records bring the time at which they were written.
  const told = new Set(relation.columns.map(({ name }) => name));
  const now = `TIMESTAMP ${literal(isoTime(nowMs).slice(0, -1))}`;
  const number = `row_number() OVER () + ${firstRow - 1}`;
  return columns
    .map((column) => {
      const own = !isSystemColumn(column.name) || told.has(column.name);
      const made = column.name === ROW_COLUMN ? number : now;
      const value = own ? valueOf(relation, column, strict && !lenient.has(column.name)) : made;
      const indexed = strict && column.type === 'varchar' && index.columns.includes(column);
      return `${indexed ? shortText(value) : value} AS ${identifier(column.name)}`;
    })
    .join(', ');
}

/** Too long a text of the index is an error: the exact way says in which record. */
const shortText = (value: string): string =>
  `CASE WHEN strlen(${value}) > ${INDEX_BYTES_MAX} THEN ${MISFIT} ELSE ${value} END`;

export function lineReject(row: Row): Reject {
  const line = Number(row['line']);
  if (row['type'] === 'LINE SIZE OVER MAXIMUM') return { line, error: RECORD_TOO_LARGE };
  return { line, error: `validation failed: ${String(row['message']).split('\n')[0]}` };
}

/**
 * Line of the n-th record that was read. Lines count records, as read_csv counts them: the header
 * is line 1, and a line break inside quotes begins no line.
 */
export function lineOf(n: number, relation: Relation, unread: readonly Reject[]): number {
  if (relation.kind !== 'csv') return n;
  const above = (relation.skip ?? 0) + (relation.headerless === true ? 0 : 1);
  return unread.reduce((line, reject) => (reject.line <= line ? line + 1 : line), n + above);
}

/** Each statement on an instance of its own: the memory of one is gone before the next begins. */
export async function askEach(
  bench: Workbench,
  relation: Relation,
  statements: readonly string[],
): Promise<readonly (readonly Row[])[]> {
  const rows: (readonly Row[])[] = [];
  for (const statement of statements) {
    rows.push((await ask(bench, relation, [statement]))[0] ?? []);
  }
  return rows;
}

/** @param endsAt the place of a statement that counts: those behind it run only where it counts any */
export async function ask(
  bench: Workbench,
  relation: Relation,
  statements: readonly string[],
  endsAt?: number,
): Promise<readonly (readonly Row[])[]> {
  try {
    return await bench.pool.rows({
      files: [relation.path, ...(bench.files ?? [])],
      folder: bench.folder,
      below: bench.below,
      statements,
      ...(endsAt === undefined ? {} : { endsAt }),
      deadlineMs: bench.deadlineMs,
      onProgress: bench.onProgress,
      ...(bench.signal === undefined ? {} : { signal: bench.signal }),
    });
  } catch (error) {
    if (isDiskFull(error)) throw toldFull(error);
    if (!(error instanceof Failure) || error.type !== 'SystemError') throw error;
    throw new Failure('InvalidBody', withoutPaths(reasonOf(error), relation, bench));
  }
}

/** DuckDB's sentence for a person: without its stack and without the folders of this machine. */
function withoutPaths(text: string, relation: Relation, bench: Workbench): string {
  if (/^(INTERNAL|Invalid) Error|TProtocolException|Stack Trace/.test(text)) {
    return `the body could not be read: its ${relation.kind} is damaged`;
  }
  return text.replaceAll(relation.path, 'the body').replaceAll(bench.folder, '');
}
