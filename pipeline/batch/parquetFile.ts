// Statements that write Parquet for the lake: sorted, with field ids, and with the statistics that the
// catalog stores so that later reads can skip files.
import type { Column } from '../../store/lake/versions/columns.ts';
import type { Row } from '../../store/duckdb/protocol.ts';
import type { PoolRequest } from '../../store/duckdb/slots.ts';
import { Failure } from '../../store/base/failure.ts';
import type { DataFile } from '../../store/lake/versions/lakeRead.ts';
import { STAMP_OPTION } from '../../store/lake/versions/stamp.ts';
import type { WrittenColumn, WrittenFile } from '../../store/lake/edit.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

/** Rows of a row group: 122,880 read 5x faster for one key than 10,000 (STACK.md 2). */
const ROW_GROUP_ROWS = 122_880;
/**
 * Row group size of a file of up to SMALL_FILE_ROWS rows: one large group would contain every key, so that
 * a keyed read would decompress all of it.
 */
const SMALL_FILE_ROWS = 2_000_000;
const SMALL_GROUP_ROWS = 8_192;

/** Field ids of the columns of a positional delete file (DuckLake 1.0 specification). */
const DELETE_PATH_FIELD = 2_147_483_646;
const DELETE_POSITION_FIELD = 2_147_483_645;

/**
 * COPY that writes `query`, whose columns are the table's in any order, to `path`.
 * @param rows upper bound of their number, if known
 */
export function copyTable(
  query: string,
  path: string,
  columns: readonly Column[],
  rows = Number.POSITIVE_INFINITY,
): string {
  const ids = columns.map((column) => `${identifier(column.name)}: ${column.id}`);
  return copy(query, path, ids, rows <= SMALL_FILE_ROWS ? SMALL_GROUP_ROWS : ROW_GROUP_ROWS);
}

/** Smaller files are written again locally: a worker's copies of them would arrive later. */
const ELSEWHERE_BYTES = 1024 ** 2;

/**
 * Remote-execution options of a statement that writes a file of its folder from files of the lake alone.
 * @param files that it reads
 */
export function remoteWriteOptions(
  written: string,
  files: readonly Pick<DataFile, 'bytes'>[],
): Pick<PoolRequest, 'canRunRemotely' | 'written'> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { written, canRunRemotely: bytes >= ELSEWHERE_BYTES };
}

/** COPY that writes deleted positions; `query` returns file_path and pos. */
export const copyDeletes = (query: string, path: string): string =>
  copy(query, path, [`file_path: ${DELETE_PATH_FIELD}`, `pos: ${DELETE_POSITION_FIELD}`]);

const copy = (
  query: string,
  path: string,
  fieldIds: readonly string[],
  groupRows = ROW_GROUP_ROWS,
): string =>
  `COPY (${query}) TO ${literal(path)} (FORMAT parquet, COMPRESSION zstd,
    ROW_GROUP_SIZE ${groupRows}, FIELD_IDS {${fieldIds.join(', ')}}, ${STAMP_OPTION}, RETURN_STATS)`;

/** The RETURN_STATS result for one file, by column name. */
export interface FileStats {
  readonly records: number;
  readonly bytes: number;
  readonly footerBytes: number;
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

interface Pair<Value> {
  readonly key: string;
  readonly value: Value;
}

/** Reads the one row that COPY … RETURN_STATS returns; it returns none when nothing was written. */
export function fileStats(rows: readonly Row[]): FileStats {
  const row = rows[0];
  if (row === undefined)
    throw new Failure('SystemError', 'DuckDB returned no statistics of a file');
  const columns = (row['column_statistics'] ?? []) as readonly Pair<readonly Pair<string>[]>[];
  return {
    records: Number(row['count']),
    bytes: Number(row['file_size_bytes']),
    footerBytes: Number(row['footer_size_bytes']),
    columns: new Map(
      columns.map(({ key, value }) => [
        key.slice(1, -1).replaceAll('""', '"'),
        new Map(value.map((pair) => [pair.key, pair.value])),
      ]),
    ),
  };
}

/** The file as a commit records it. */
export function writtenFile(
  name: string,
  stats: FileStats,
  columns: readonly Column[],
  proof: WrittenFile['proof'],
): WrittenFile {
  return {
    name,
    records: stats.records,
    bytes: stats.bytes,
    footerBytes: stats.footerBytes,
    columns: columns.map((column) => writtenColumn(column, stats.columns.get(column.name))),
    proof,
  };
}

/** Drops a bound with the character 0, which not every catalog's text can store. */
const boundOf = (text: string | undefined): string | null =>
  text === undefined || text.includes('\0') ? null : text;

function writtenColumn(
  column: Column,
  stats: ReadonlyMap<string, string> | undefined,
): WrittenColumn {
  const count = (name: string): number => Number(stats?.get(name) ?? 0);
  const nan = stats?.get('has_nan');
  return {
    columnId: column.id,
    bytes: count('column_size_bytes'),
    // The format counts values without nulls; DuckDB reports rows.
    values: count('num_values') - count('null_count'),
    nulls: count('null_count'),
    min: boundOf(stats?.get('min')),
    max: boundOf(stats?.get('max')),
    containsNan: nan === undefined ? null : nan === 'true',
  };
}
