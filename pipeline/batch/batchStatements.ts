// The statements that both paths to a batch share: the select list, running statements, and reading their
// results.
import { isoTime } from '../../store/base/clock.ts';
import {
  type Column,
  type ColumnKind,
  columnKind,
  type ColumnType,
  isDateType,
  isSystemColumn,
  ROW_COLUMN,
  SOURCE_COLUMN,
} from '../../store/lake/versions/columns.ts';
import { parseDecimal } from '../../store/lake/versions/decimals.ts';
import type { Row } from '../../store/duckdb/protocol.ts';
import { Failure, isDiskFull, reasonOf, toDiskFullFailure } from '../../store/base/failure.ts';
import type { Reject } from '../../store/work/jobs.ts';
import type { DateOrder } from '../values/dateFormats.ts';
import {
  INDEX_BYTES_MAX,
  MISFIT,
  MISFIT_MARK,
  RECORD_TOO_LARGE,
  type Relation,
  buildValue,
} from '../values/relation.ts';
import type { BatchRequest } from './batchRequest.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import { lineInFile } from '../bytes/unreadLines.ts';
import type { Workbench } from '../bytes/workbench.ts';

/** The position of a record in its file, from 1. */
export const RECORD_NUMBER = '_system_number';
/** Why a record is refused; null in a valid one. */
export const FAULT = '_system_fault';

/** @param order the declared order of the column's dates */
export const typeError = (name: string, type: ColumnType, order?: DateOrder): string => {
  const word = parseDecimal(type) === undefined ? TYPE_WORDS[columnKind(type)] : type;
  const expected = order === undefined ? word : `${word} in the order ${order}`;
  return `validation failed: property '${name}' should be ${expected}`;
};

/** The declared order of a column's dates, if the column is stored as dates. */
export function declaredOrder(
  { columns }: Relation,
  { name, type }: Pick<Column, 'name' | 'type'>,
): DateOrder | undefined {
  if (!isDateType(type)) return undefined;
  return columns.find((column) => column.name === name)?.inferred.spelling?.order;
}

/** Characters of a value that the reason of a rejection quotes. */
const SHOWN_CHARACTERS = 60;

/** SQL expression for a value of the file as messages quote it. */
export const quotedValue = (name: string): string =>
  `to_json(left(CAST(${identifier(name)} AS VARCHAR), ${SHOWN_CHARACTERS}))`;

export const WIDE_INTEGER = 'integer of at most 38 digits';

/** Column types in the words of JSON schema, which owners write. */
const TYPE_WORDS: Readonly<Record<ColumnKind, string>> = {
  int64: 'integer',
  int128: WIDE_INTEGER,
  decimal: 'decimal',
  float64: 'number',
  varchar: 'string',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'date-time',
  timestamp_ns: 'date-time-ns',
  time: 'time',
  json: 'object or array',
};

/** The select list: the owner's properties from the file, the system's from this run. */
export function selectList(
  { relation, columns, firstRow, index, lenient, nowMs, sharesRow, source }: BatchRequest,
  strict: boolean,
): string {
  // Pushed records carry the time at which they were written, and their number.
  const present = new Set(relation.columns.map(({ name }) => name));
  const now = `TIMESTAMP ${literal(isoTime(nowMs).slice(0, -1))}`;
  const system = new Map([
    [ROW_COLUMN, sharesRow ? `${firstRow}::BIGINT` : `row_number() OVER () + ${firstRow - 1}`],
    [SOURCE_COLUMN, `${source}::BIGINT`],
  ]);
  return columns
    .map((column) => {
      const own = !isSystemColumn(column.name) || present.has(column.name);
      const value = own
        ? buildValue(relation, column, strict && !lenient.has(column.name))
        : (system.get(column.name) ?? now);
      const indexed = strict && column.type === 'varchar' && index.columns.includes(column);
      return `${indexed ? shortText(value) : value} AS ${identifier(column.name)}`;
    })
    .join(', ');
}

/** Raises an error for an index text that is too long: the exact path reports the record. */
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
export function lineOf(n: number, relation: Relation, unread: UnreadRows): number {
  if (relation.kind !== 'csv') return n;
  const above = (relation.skip ?? 0) + (relation.headerless === true ? 0 : 1);
  return unread.reduce((line, reject) => (reject.line <= line ? line + 1 : line), n + above);
}

/** Lines that read_csv rejected, as it counts them. */
type UnreadRows = readonly Pick<Reject, 'line'>[];

/** Line of the n-th record in the original file: `lineOf` counts the lines of a copy too. */
export const fileLineOf = (n: number, relation: Relation, unread: UnreadRows = []): number =>
  lineInFile(relation.lineSteps, lineOf(n, relation, unread));

/** Runs each statement on its own instance: the memory of one is freed before the next begins. */
export async function runEachStatement(
  bench: Workbench,
  relation: Relation,
  statements: readonly string[],
): Promise<readonly (readonly Row[])[]> {
  const rows: (readonly Row[])[] = [];
  for (const statement of statements) {
    rows.push((await runStatements(bench, relation, [statement]))[0] ?? []);
  }
  return rows;
}

/** @param endsAt index of a counting statement: those after it run only if it counts any */
export async function runStatements(
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
    if (isDiskFull(error)) throw toDiskFullFailure(error);
    if (!(error instanceof Failure) || error.type !== 'SystemError') throw error;
    throw new Failure('InvalidBody', withoutPaths(reasonOf(error), relation, bench));
  }
}

/** DuckDB's error text for display: without its stack and without folders of this machine. */
function withoutPaths(text: string, relation: Relation, bench: Workbench): string {
  if (text.startsWith('Out of Memory Error')) {
    return 'the load needs more memory than a load may have: load the file in parts';
  }
  if (text.includes(MISFIT_MARK)) return text;
  if (
    /^(?:INTERNAL|Invalid|Invalid Input|IO|Serialization) Error|TProtocol|Stack Trace/.test(text)
  ) {
    return `the body could not be read: its ${relation.kind} is damaged`;
  }
  return text.replaceAll(relation.path, 'the body').replaceAll(bench.folder, '');
}
