// Finds the properties that distinguish the records of a file: candidates are proved on all records. If
// no candidate passes, records are numbered in the order of the file.
import { join } from 'node:path';
import { type Column, ROW_COLUMN, SOURCE_COLUMN } from '../../store/lake/versions/columns.ts';
import type { ColumnMapping } from '../../store/lake/datasets/datasets.ts';
import { REJECTS_MAX } from '../../store/work/jobs.ts';
import { newUuid } from '../../store/base/random.ts';
import { runStatements, lineOf } from '../batch/batchStatements.ts';
import { copyTable, fileStats } from '../batch/parquetFile.ts';
import { INDEX_BYTES_MAX, type Relation } from '../values/relation.ts';
import {
  isBlank,
  orderBy,
  orderIndex,
  orderOfLoad,
  countRepeatsQuery,
  type UniqueIndex,
} from '../batch/uniqueIndex.ts';
import type { Batch } from '../batch/batchRequest.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';
import type { Workbench } from '../bytes/workbench.ts';

/** Records that are sampled to rule candidates out. */
const SAMPLE_RECORDS = 50_000;
/** Maximum candidates proved by a sort of all records. */
const PROVED_MAX = 4;
/** Texts that are considered as parts of an index, the first ones. */
const TEXTS_MAX = 24;

/** A batch to sort, and the context of the work. */
export interface Proving {
  /** In the order of the file. */
  readonly batch: Batch;
  readonly relation: Relation;
  readonly bench: Workbench;
  /** The value of SOURCE_COLUMN in each record. */
  readonly source: number;
}

/**
 * Removes lines of a text without any value, such as a last line of commas: these are invalid. In a format
 * of rows or objects a row of nulls is a regular record.
 */
export async function dropEmptyLines(
  properties: readonly string[],
  columns: readonly Column[],
  { batch, bench, relation }: Proving,
): Promise<Batch> {
  if (relation.kind !== 'csv') return batch;
  if (properties.some((name) => !isBlank(batch.stats, name))) return batch;
  const read = `read_parquet(${literal(batch.path)}, file_row_number = true)`;
  const values = properties.map((name) => `nullif(CAST(${identifier(name)} AS VARCHAR), '')`);
  const empty = `coalesce(${values.join(', ')}) IS NULL`;
  const path = join(bench.folder, `${newUuid()}.parquet`);
  const list = columns.map(({ name }) => identifier(name)).join(', ');
  const filled = `SELECT ${list} FROM ${read} WHERE NOT (${empty})`;
  const [empties = [], copied] = await runStatements(bench, relation, [
    `SELECT file_row_number + 1 AS n FROM ${read} WHERE ${empty} ORDER BY 1 LIMIT ${REJECTS_MAX}`,
    copyTable(filled, path, columns, batch.stats.records),
  ]);
  if (empties.length === 0) return batch;
  const stats = fileStats(copied ?? []);
  const rejects = empties.map(({ n }) => ({
    line: lineOf(Number(n), relation, batch.rejects),
    error: 'validation failed: the record has no value',
  }));
  return {
    ...batch,
    path,
    stats,
    invalid: batch.invalid + batch.stats.records - stats.records,
    rejects: [...batch.rejects, ...rejects]
      .sort((one, other) => one.line - other.line)
      .slice(0, REJECTS_MAX),
  };
}

/** Texts with a value that is longer than an index may store. */
export async function findLongTexts(
  names: readonly string[],
  { batch, bench, relation }: Proving,
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const longest = names.map((name, at) => `max(strlen(${identifier(name)})) AS m${at}`);
  const statement = `SELECT ${longest.join(', ')} FROM read_parquet(${literal(batch.path)})`;
  const [rows] = await runStatements(bench, relation, [statement]);
  return new Set(names.filter((_, at) => Number(rows?.[0]?.[`m${at}`] ?? 0) > INDEX_BYTES_MAX));
}

/**
 * Texts with repeated values, like those of a key beside a date: three records of two values, or more
 * of fewer. Free texts differ, and would distinguish records by chance.
 */
export async function findRepeatingTexts(
  names: readonly string[],
  proving: Proving,
): Promise<ReadonlySet<string>> {
  const some = names.slice(0, TEXTS_MAX);
  const { distinct, records } = await countFirst(
    some.map((name) => [name]),
    proving,
  );
  return new Set(some.filter((_, at) => (distinct[at] ?? 0) * 3 <= records * 2));
}

/**
 * Counts the first records, and the distinct values that each list of columns has in them.
 * Hashes are counted: 50,000 texts of a kilobyte in 40 counts did not fit the memory of a load. Two
 * values with one hash can only rule a candidate out.
 */
async function countFirst(
  lists: readonly (readonly string[])[],
  { batch, bench, relation }: Proving,
): Promise<{ readonly records: number; readonly distinct: readonly number[] }> {
  if (lists.length === 0) return { records: 0, distinct: [] };
  const names = [...new Set(lists.flat())].map(identifier).join(', ');
  const counts = lists.map(
    (list, at) => `count(DISTINCT hash(${list.map(identifier).join(', ')})) AS d${at}`,
  );
  const first = `(SELECT ${names} FROM read_parquet(${literal(batch.path)}) LIMIT ${SAMPLE_RECORDS})`;
  const statement = `SELECT count(*) AS records, ${counts.join(', ')} FROM ${first}`;
  const [[row] = []] = await runStatements(bench, relation, [statement]);
  const distinct = lists.map((_, at) => Number(row?.[`d${at}`] ?? 0));
  return { records: Number(row?.['records'] ?? 0), distinct };
}

/** The candidates that the sampled records do not rule out, in their order. */
export async function findPossible(
  candidates: readonly ColumnMapping[],
  proving: Proving,
): Promise<readonly ColumnMapping[]> {
  const lists = candidates.map((mapping) => Object.values(mapping).map(String));
  const { distinct, records } = await countFirst(lists, proving);
  return candidates.filter((_, at) => distinct[at] === records).slice(0, PROVED_MAX);
}

interface Sorting {
  readonly columns: readonly Column[];
  readonly index: UniqueIndex;
}

/** The batch sorted by an index, all records under one number; undefined if two share an index value. */
export async function sortByIndex(
  { columns, index }: Sorting,
  { batch, bench, relation, source }: Proving,
): Promise<Batch | undefined> {
  const path = join(bench.folder, `${newUuid()}.parquet`);
  const list = listColumns(columns, '1', source);
  const query = `SELECT ${list} FROM read_parquet(${literal(batch.path)})${orderBy(index)}`;
  const copy = copyTable(query, path, columns, batch.stats.records);
  const repeats = countRepeatsQuery(path, orderIndex(index));
  const [copied, repeated] = await runStatements(bench, relation, [copy, repeats]);
  if (Number(repeated?.[0]?.['repeats'] ?? 0) > 0) return undefined;
  return { ...batch, path, stats: fileStats(copied ?? []) };
}

/** The batch with a number for each record, in the order of the file. */
export async function numberInFileOrder(
  { columns, index }: Sorting,
  { batch, bench, relation, source }: Proving,
): Promise<Batch> {
  const path = join(bench.folder, `${newUuid()}.parquet`);
  const read = `read_parquet(${literal(batch.path)}, file_row_number = true)`;
  const list = listColumns(columns, 'file_row_number + 1', source);
  const query = `SELECT ${list} FROM ${read}${orderOfLoad(relation, index)}`;
  const copy = copyTable(query, path, columns, batch.stats.records);
  const [copied] = await runStatements(bench, relation, [copy]);
  return { ...batch, path, stats: fileStats(copied ?? []) };
}

const listColumns = (columns: readonly Column[], number: string, source: number): string =>
  columns
    .map(({ name }) => {
      if (name === ROW_COLUMN) return `CAST(${number} AS BIGINT) AS ${identifier(name)}`;
      return name === SOURCE_COLUMN ? `${source}::BIGINT AS ${identifier(name)}` : identifier(name);
    })
    .join(', ');
