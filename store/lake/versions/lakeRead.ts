// Reads the lake at a snapshot with the specification's SELECTs and their lifetime filters (DuckLake 1.0
// specification, "Queries: Reading Data").
import type { Column, ColumnType } from './columns.ts';
import type { Database } from '../../catalog/database.ts';
import type { LakeFile } from '../../files/fileProofs.ts';
import type { Proof } from '../../files/proofTable.ts';
import { newUuid } from '../../base/random.ts';

interface ColumnRange {
  readonly min: string | null;
  readonly max: string | null;
  readonly nulls: number;
}

export interface DataFile {
  readonly id: number;
  /** Relative to the lake's root. */
  readonly path: string;
  readonly records: number;
  readonly bytes: number;
  /** Minimum and maximum by column id, as the catalog's text. */
  readonly ranges: ReadonlyMap<number, ColumnRange>;
  /** The file of deleted positions in force, if any record of this file was deleted. */
  readonly deletes: DeleteFile | null;
  readonly proof: Proof | undefined;
}

interface DeleteFile extends LakeFile {
  readonly id: number;
  readonly records: number;
}

export interface Table {
  readonly tableId: number;
  readonly snapshot: number;
  /** Folder of its files, relative to the lake's root, with a trailing slash. */
  readonly folder: string;
  readonly columns: readonly Column[];
  readonly files: readonly DataFile[];
  /** Number of visible records. */
  readonly records: number;
  readonly bytes: number;
}

/** Reads the table's columns and files at a snapshot; undefined when it did not exist then. */
export async function readTable(
  database: Database,
  tableId: number,
  snapshot: number,
): Promise<Table | undefined> {
  return (await readTables(database, [tableId], snapshot)).get(tableId);
}

/** Reads several tables by id, with as many statements as for one. */
export async function readTables(
  database: Database,
  tableIds: readonly number[],
  snapshot: number,
): Promise<ReadonlyMap<number, Table>> {
  const folders = await readFolders(database, tableIds, snapshot);
  const [columns, files] = await Promise.all([
    readColumns(database, tableIds, snapshot),
    readFiles(database, tableIds, snapshot, folders),
  ]);
  const tables = [...folders].map(([tableId, folder]): Table => {
    const own = files.get(tableId) ?? [];
    return {
      tableId,
      snapshot,
      folder,
      columns: columns.get(tableId) ?? [],
      files: own,
      records: own.reduce((sum, file) => sum + file.records - (file.deletes?.records ?? 0), 0),
      bytes: own.reduce((sum, file) => sum + file.bytes, 0),
    };
  });
  return new Map(tables.map((table) => [table.tableId, table]));
}

/** Reads the folders of the tables' files, relative to the lake's root, with a trailing slash. */
async function readFolders(
  database: Database,
  tableIds: readonly number[],
  snapshot: number,
): Promise<ReadonlyMap<number, string>> {
  const rows = await database
    .selectFrom('ducklake_table as t')
    .innerJoin('ducklake_schema as s', 's.schema_id', 't.schema_id')
    .select(['t.table_id', 't.path as tablePath', 's.path as schemaPath'])
    .where('t.table_id', 'in', [...tableIds])
    .where('t.begin_snapshot', '<=', snapshot)
    .where((is) => is.or([is('t.end_snapshot', 'is', null), is('t.end_snapshot', '>', snapshot)]))
    .execute();
  return new Map(rows.map((row) => [row.table_id, `${row.schemaPath}${row.tablePath}`]));
}

async function readColumns(
  database: Database,
  tableIds: readonly number[],
  snapshot: number,
): Promise<ReadonlyMap<number, readonly Column[]>> {
  const rows = await database
    .selectFrom('ducklake_column')
    .select(['table_id', 'column_id', 'column_name', 'column_type', 'nulls_allowed'])
    .where('table_id', 'in', [...tableIds])
    .where('parent_column', 'is', null)
    .where('begin_snapshot', '<=', snapshot)
    .where((is) => is.or([is('end_snapshot', 'is', null), is('end_snapshot', '>', snapshot)]))
    .orderBy('table_id')
    .orderBy('column_order')
    .execute();
  return byTable(rows, (row) => ({
    id: row.column_id,
    name: row.column_name,
    type: row.column_type as ColumnType,
    nullable: Boolean(row.nulls_allowed),
  }));
}

function byTable<Row extends { readonly table_id: number }, Item>(
  rows: readonly Row[],
  itemOf: (row: Row) => Item,
): ReadonlyMap<number, readonly Item[]> {
  const items = new Map<number, Item[]>();
  for (const row of rows) {
    const own = items.get(row.table_id);
    if (own === undefined) items.set(row.table_id, [itemOf(row)]);
    else own.push(itemOf(row));
  }
  return items;
}

async function readFiles(
  database: Database,
  tableIds: readonly number[],
  snapshot: number,
  folders: ReadonlyMap<number, string>,
): Promise<ReadonlyMap<number, readonly DataFile[]>> {
  const rows = await database
    .selectFrom('ducklake_data_file as data')
    .leftJoin('ducklake_delete_file as del', (join) =>
      join
        .onRef('del.data_file_id', '=', 'data.data_file_id')
        .on('del.begin_snapshot', '<=', snapshot)
        .on((is) =>
          is.or([is('del.end_snapshot', 'is', null), is('del.end_snapshot', '>', snapshot)]),
        ),
    )
    .leftJoin('file_proof as p', 'p.file_id', 'data.data_file_id')
    .leftJoin('file_proof as dp', 'dp.file_id', 'del.delete_file_id')
    .select([
      'data.table_id',
      'data.data_file_id',
      'data.path',
      'data.record_count',
      'data.file_size_bytes',
    ])
    .select(['p.sha256', 'p.seen', 'dp.sha256 as deleteSha256', 'dp.seen as deleteSeen'])
    .select(['del.delete_file_id', 'del.path as deletePath', 'del.delete_count'])
    .select('del.file_size_bytes as deleteBytes')
    .where('data.table_id', 'in', [...tableIds])
    .where('data.begin_snapshot', '<=', snapshot)
    .where((is) =>
      is.or([is('data.end_snapshot', 'is', null), is('data.end_snapshot', '>', snapshot)]),
    )
    .orderBy('data.data_file_id')
    .execute();
  const ranges = await readRanges(database, tableIds);
  return byTable(rows, (row) => {
    const folder = folders.get(row.table_id) ?? '';
    return {
      ...toDataFile(row, folder, ranges),
      deletes:
        row.delete_file_id === null
          ? null
          : {
              id: row.delete_file_id,
              path: `${folder}${row.deletePath}`,
              records: row.delete_count ?? 0,
              bytes: row.deleteBytes ?? 0,
              proof: toProof(row.delete_file_id, row.deleteSha256, row.deleteSeen),
            },
    };
  });
}

/** Reads data files of every stored version of a table, without their deletes. */
export async function readAllFiles(
  database: Database,
  { tableId, folder }: Table,
): Promise<readonly DataFile[]> {
  const rows = await database
    .selectFrom('ducklake_data_file')
    .leftJoin('file_proof', 'file_id', 'data_file_id')
    .select(['data_file_id', 'path', 'record_count', 'file_size_bytes', 'sha256', 'seen'])
    .where('table_id', '=', tableId)
    .orderBy('data_file_id')
    .execute();
  const ranges = await readRanges(database, [tableId]);
  return rows.map((row) => toDataFile(row, folder, ranges));
}

interface DataFileRow {
  readonly data_file_id: number;
  readonly path: string;
  readonly record_count: number;
  readonly file_size_bytes: number;
  readonly sha256: string | null;
  readonly seen: string | null;
}

const toProof = (fileId: number, sha256: string | null, seen: string | null): Proof | undefined =>
  sha256 === null ? undefined : { fileId, sha256, seen };

/** Converts a row to a data file without its deletes. */
const toDataFile = (
  row: DataFileRow,
  folder: string,
  ranges: ReadonlyMap<number, ReadonlyMap<number, ColumnRange>>,
): DataFile => ({
  id: row.data_file_id,
  path: `${folder}${row.path}`,
  records: row.record_count,
  bytes: row.file_size_bytes,
  ranges: ranges.get(row.data_file_id) ?? new Map(),
  deletes: null,
  proof: toProof(row.data_file_id, row.sha256, row.seen),
});

async function readRanges(
  database: Database,
  tableIds: readonly number[],
): Promise<ReadonlyMap<number, ReadonlyMap<number, ColumnRange>>> {
  const rows = await database
    .selectFrom('ducklake_file_column_stats')
    .select(['data_file_id', 'column_id', 'min_value', 'max_value', 'null_count'])
    .where('table_id', 'in', [...tableIds])
    .execute();
  const byFile = new Map<number, Map<number, ColumnRange>>();
  for (const row of rows) {
    const file = byFile.get(row.data_file_id) ?? new Map<number, ColumnRange>();
    file.set(row.column_id, { min: row.min_value, max: row.max_value, nulls: row.null_count });
    byFile.set(row.data_file_id, file);
  }
  return byFile;
}

/** Returns the name of a file without its folder. */
export const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Creates a name for a new file of the table, and its path relative to the lake's root. */
export function createFileName(
  table: Table,
  suffix = '',
): { readonly name: string; readonly path: string } {
  const name = `ducklake-${newUuid()}${suffix}.parquet`;
  return { name, path: `${table.folder}${name}` };
}

/** Reads the folders of all tables that ever existed, by id, relative to the lake's root. */
export async function tableFolders(database: Database): Promise<ReadonlyMap<number, string>> {
  const tables = await database
    .selectFrom('ducklake_table as t')
    .innerJoin('ducklake_schema as s', 's.schema_id', 't.schema_id')
    .select(['t.table_id', 't.path as tablePath', 's.path as schemaPath'])
    .execute();
  return new Map(tables.map((row) => [row.table_id, row.schemaPath + row.tablePath]));
}
