// The catalog of the lake: the tables of the DuckLake 1.0 specification, as in its DDL.
// UUID and TIMESTAMP WITH TIME ZONE are text in SQLite, which has neither type, as in the format's own
// SQLite catalogs.
import type { Kysely } from 'kysely';
import { createTable, type SqlBoolean } from './createTable.ts';

interface Lifetime {
  readonly begin_snapshot: number;
  /** Null while the row is current. */
  readonly end_snapshot: number | null;
}

interface SnapshotTable {
  readonly snapshot_id: number;
  /** ISO 8601 text in UTC. */
  readonly snapshot_time: string;
  readonly schema_version: number;
  readonly next_catalog_id: number;
  readonly next_file_id: number;
}

interface SnapshotChangesTable {
  readonly snapshot_id: number;
  readonly changes_made: string;
  readonly author: string | null;
  readonly commit_message: string | null;
  readonly commit_extra_info: string | null;
}

interface SchemaTable extends Lifetime {
  readonly schema_id: number;
  readonly schema_uuid: string;
  readonly schema_name: string;
  readonly path: string;
  readonly path_is_relative: SqlBoolean;
}

interface TableTable extends Lifetime {
  readonly table_id: number;
  readonly table_uuid: string;
  readonly schema_id: number;
  readonly table_name: string;
  readonly path: string;
  readonly path_is_relative: SqlBoolean;
}

interface ColumnTable extends Lifetime {
  readonly column_id: number;
  readonly table_id: number;
  readonly column_order: number;
  readonly column_name: string;
  readonly column_type: string;
  readonly initial_default: string | null;
  readonly default_value: string | null;
  readonly nulls_allowed: SqlBoolean;
  readonly parent_column: number | null;
  readonly default_value_type: string | null;
  readonly default_value_dialect: string | null;
}

interface DataFileTable extends Lifetime {
  readonly data_file_id: number;
  readonly table_id: number;
  readonly file_order: number | null;
  readonly path: string;
  readonly path_is_relative: SqlBoolean;
  readonly file_format: string;
  readonly record_count: number;
  readonly file_size_bytes: number;
  readonly footer_size: number;
  readonly row_id_start: number;
  readonly partition_id: number | null;
  readonly encryption_key: string | null;
  readonly mapping_id: number | null;
  readonly partial_max: number | null;
}

interface DeleteFileTable extends Lifetime {
  readonly delete_file_id: number;
  readonly table_id: number;
  readonly data_file_id: number;
  readonly path: string;
  readonly path_is_relative: SqlBoolean;
  readonly format: string;
  readonly delete_count: number;
  readonly file_size_bytes: number;
  readonly footer_size: number;
  readonly encryption_key: string | null;
  readonly partial_max: number | null;
}

interface FileColumnStatsTable {
  readonly data_file_id: number;
  readonly table_id: number;
  readonly column_id: number;
  readonly column_size_bytes: number;
  readonly value_count: number;
  readonly null_count: number;
  readonly min_value: string | null;
  readonly max_value: string | null;
  readonly contains_nan: SqlBoolean | null;
  readonly extra_stats: string | null;
}

interface TableStatsTable {
  readonly table_id: number;
  readonly record_count: number;
  readonly next_row_id: number;
  readonly file_size_bytes: number;
}

interface TableColumnStatsTable {
  readonly table_id: number;
  readonly column_id: number;
  readonly contains_null: SqlBoolean | null;
  readonly contains_nan: SqlBoolean | null;
  readonly min_value: string | null;
  readonly max_value: string | null;
  readonly extra_stats: string | null;
}

interface MetadataTable {
  readonly key: string;
  readonly value: string;
  readonly scope: string | null;
  readonly scope_id: number | null;
}

interface ScheduledDeletionTable {
  readonly data_file_id: number;
  readonly path: string;
  readonly path_is_relative: SqlBoolean;
  readonly schedule_start: string;
}

interface SchemaVersionsTable {
  readonly begin_snapshot: number;
  readonly schema_version: number;
  readonly table_id: number;
}

export interface LakeTables {
  readonly ducklake_snapshot: SnapshotTable;
  readonly ducklake_snapshot_changes: SnapshotChangesTable;
  readonly ducklake_schema: SchemaTable;
  readonly ducklake_table: TableTable;
  readonly ducklake_column: ColumnTable;
  readonly ducklake_data_file: DataFileTable;
  readonly ducklake_delete_file: DeleteFileTable;
  readonly ducklake_file_column_stats: FileColumnStatsTable;
  readonly ducklake_table_stats: TableStatsTable;
  readonly ducklake_table_column_stats: TableColumnStatsTable;
  readonly ducklake_metadata: MetadataTable;
  readonly ducklake_files_scheduled_for_deletion: ScheduledDeletionTable;
  readonly ducklake_schema_versions: SchemaVersionsTable;
}

/** Column name and type of every catalog table; `!` marks the primary key. */
const DDL: Readonly<Record<string, string>> = {
  ducklake_column: `
    column_id bigint, begin_snapshot bigint, end_snapshot bigint, table_id bigint, column_order
    bigint, column_name text, column_type text, initial_default text, default_value text,
    nulls_allowed boolean, parent_column bigint, default_value_type text, default_value_dialect
    text`,
  ducklake_column_mapping: 'mapping_id bigint, table_id bigint, type text',
  ducklake_column_tag: `
    table_id bigint, column_id bigint, begin_snapshot bigint, end_snapshot bigint, key text,
    value text`,
  ducklake_data_file: `
    data_file_id! bigint, table_id bigint, begin_snapshot bigint, end_snapshot bigint,
    file_order bigint, path text, path_is_relative boolean, file_format text, record_count
    bigint, file_size_bytes bigint, footer_size bigint, row_id_start bigint, partition_id
    bigint, encryption_key text, mapping_id bigint, partial_max bigint`,
  ducklake_delete_file: `
    delete_file_id! bigint, table_id bigint, begin_snapshot bigint, end_snapshot bigint,
    data_file_id bigint, path text, path_is_relative boolean, format text, delete_count bigint,
    file_size_bytes bigint, footer_size bigint, encryption_key text, partial_max bigint`,
  ducklake_file_column_stats: `
    data_file_id bigint, table_id bigint, column_id bigint, column_size_bytes bigint,
    value_count bigint, null_count bigint, min_value text, max_value text, contains_nan boolean,
    extra_stats text`,
  ducklake_file_partition_value: `
    data_file_id bigint, table_id bigint, partition_key_index bigint, partition_value text`,
  ducklake_file_variant_stats: `
    data_file_id bigint, table_id bigint, column_id bigint, variant_path text, shredded_type
    text, column_size_bytes bigint, value_count bigint, null_count bigint, min_value text,
    max_value text, contains_nan boolean, extra_stats text`,
  ducklake_files_scheduled_for_deletion:
    'data_file_id bigint, path text, path_is_relative boolean, schedule_start timestamptz',
  ducklake_inlined_data_tables: 'table_id bigint, table_name text, schema_version bigint',
  ducklake_macro: `
    schema_id bigint, macro_id bigint, macro_name text, begin_snapshot bigint, end_snapshot
    bigint`,
  ducklake_macro_impl: 'macro_id bigint, impl_id bigint, dialect text, sql text, type text',
  ducklake_macro_parameters: `
    macro_id bigint, impl_id bigint, column_id bigint, parameter_name text, parameter_type text,
    default_value text, default_value_type text`,
  ducklake_metadata: 'key text, value text, scope text, scope_id bigint',
  ducklake_name_mapping: `
    mapping_id bigint, column_id bigint, source_name text, target_field_id bigint, parent_column
    bigint, is_partition boolean`,
  ducklake_partition_column: `
    partition_id bigint, table_id bigint, partition_key_index bigint, column_id bigint,
    transform text`,
  ducklake_partition_info: `
    partition_id bigint, table_id bigint, begin_snapshot bigint, end_snapshot bigint`,
  ducklake_schema: `
    schema_id! bigint, schema_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_name
    text, path text, path_is_relative boolean`,
  ducklake_schema_versions: 'begin_snapshot bigint, schema_version bigint, table_id bigint',
  ducklake_snapshot: `
    snapshot_id! bigint, snapshot_time timestamptz, schema_version bigint, next_catalog_id bigint,
    next_file_id bigint`,
  ducklake_snapshot_changes: `
    snapshot_id! bigint, changes_made text, author text, commit_message text, commit_extra_info
    text`,
  ducklake_sort_expression: `
    sort_id bigint, table_id bigint, sort_key_index bigint, expression text, dialect text,
    sort_direction text, null_order text`,
  ducklake_sort_info: 'sort_id bigint, table_id bigint, begin_snapshot bigint, end_snapshot bigint',
  ducklake_table: `
    table_id bigint, table_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_id
    bigint, table_name text, path text, path_is_relative boolean`,
  ducklake_table_column_stats: `
    table_id bigint, column_id bigint, contains_null boolean, contains_nan boolean, min_value
    text, max_value text, extra_stats text`,
  ducklake_table_stats: `
    table_id bigint, record_count bigint, next_row_id bigint, file_size_bytes bigint`,
  ducklake_tag: `
    object_id bigint, begin_snapshot bigint, end_snapshot bigint, key text, value text`,
  ducklake_view: `
    view_id bigint, view_uuid uuid, begin_snapshot bigint, end_snapshot bigint, schema_id
    bigint, view_name text, dialect text, sql text, column_aliases text`,
};

/** Creates the catalog tables and the two indexes that this program's queries need. */
export async function createLakeTables(database: Kysely<unknown>): Promise<void> {
  for (const [table, columns] of Object.entries(DDL)) await createTable(database, table, columns);
  await database.schema
    .createIndex('tapedeck_data_file_by_table')
    .on('ducklake_data_file')
    .columns(['table_id', 'begin_snapshot'])
    .execute();
  await database.schema
    .createIndex('tapedeck_column_stats_by_file')
    .on('ducklake_file_column_stats')
    .columns(['data_file_id'])
    .execute();
}
