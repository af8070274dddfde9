// A lake of thousands of datasets, each with files in the catalog, created in a few transactions.
import { insertDatasetRow } from '../../../store/lake/datasets/datasetRows.ts';
import { createWorkspace } from '../../../store/lake/datasetEdits.ts';
import type { Tapedeck } from '../../../app/main.ts';
import type { Database } from '../../../store/catalog/database.ts';
import type { BatchStatement } from '../../../store/catalog/statements.ts';
import { insertEach, runBatch } from '../../../store/catalog/statementBatch.ts';

const SCHEMA = {
  type: 'object',
  properties: Object.fromEntries(
    ['date', 'a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => [
      name,
      name === 'date' ? { type: 'string', format: 'date' } : { type: 'number' },
    ]),
  ),
  required: ['date'],
};
const COLUMNS = Object.keys(SCHEMA.properties);
/** Above the ids of all loaded files. */
const FIRST_FILE_ID = 10_000_000;

/** Creates datasets M0 … of a new workspace MANY; the server must be restarted afterwards. */
export async function makeMany(
  { services, accountId }: Tapedeck,
  count: number,
  filesOfEach = 1,
): Promise<void> {
  const { lake } = services;
  const { schemaId } = await createWorkspace(lake, 'MANY', accountId, 0);
  const names = Array.from({ length: count }, (_, at) => `M${at}`);
  const columns = COLUMNS.map((name, at) => ({
    id: at + 1,
    name,
    nullable: at > 0,
    type: at === 0 ? ('date' as const) : ('float64' as const),
  }));
  const edits = names.map((name) => ({
    kind: 'create-table' as const,
    schemaId,
    schemaName: 'MANY',
    name,
    columns,
  }));
  const note = { author: 'test', message: 'many' };
  await lake.commit(edits, note, async (transaction, { created, snapshot }) => {
    for (const [at, tableId] of created.entries()) {
      await insertDataset(transaction, names[at] ?? '', tableId);
      const firstId = FIRST_FILE_ID + at * filesOfEach;
      const ids = Array.from({ length: filesOfEach }, (_, file) => firstId + file);
      const pieces = ids.flatMap((id) => filePieces(transaction, tableId, id, snapshot));
      await runBatch(transaction, pieces);
    }
  });
}

const insertDataset = (transaction: Database, name: string, tableId: number): Promise<void> =>
  insertDatasetRow(transaction, {
    table_id: tableId,
    workspace: 'MANY',
    dataset: name,
    title: '',
    description: '',
    source: '',
    weight: 1,
    schema_json: JSON.stringify(SCHEMA),
    mapping_json: '{"date":"date"}',
    access_json: '{"level":"open"}',
    smart_links_json: '[]',
    history_days: null,
    contract_json: null,
    expectations_json: null,
    created_ms: 0,
    updated_ms: 0,
  });

/** Files that are only in the catalog: nothing reads them. */
function filePieces(
  transaction: Database,
  tableId: number,
  fileId: number,
  snapshot: number,
): readonly BatchStatement[] {
  const own = { data_file_id: fileId, table_id: tableId };
  const file = {
    ...own,
    begin_snapshot: snapshot,
    end_snapshot: null,
    file_order: null,
    path: `x${fileId}.parquet`,
    path_is_relative: true,
    file_format: 'parquet',
    record_count: 7,
    file_size_bytes: 100,
    footer_size: 10,
    row_id_start: 0,
    partition_id: null,
    encryption_key: null,
    mapping_id: null,
    partial_max: null,
  };
  const stats = COLUMNS.map((_, at) => ({
    ...own,
    column_id: at + 1,
    column_size_bytes: 10,
    value_count: 7,
    null_count: 0,
    min_value: '1',
    max_value: '2',
    contains_nan: false,
    extra_stats: null,
  }));
  return [
    ...insertEach(transaction, 'ducklake_data_file', [file]),
    ...insertEach(transaction, 'ducklake_file_column_stats', stats),
  ];
}
