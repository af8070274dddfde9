// Many small files become few, and deleted records are left out: a new file in the place of the old
// ones, in one commit. No record changes, old versions keep their files, readers meet either side.
import { join } from 'node:path';
import { publishFile } from '../../pipeline/merge/ingest.ts';
import { copyTable, fileStats, writing } from '../../pipeline/batch/parquetFile.ts';
import { orderBy, uniqueIndexOf } from '../../pipeline/batch/uniqueIndex.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { DataFile, Table } from '../../store/lake/versions/lakeRead.ts';
import { withProvedFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import { inWorkspace } from '../../pipeline/bytes/workbench.ts';
import { COMPACTION_AUTHOR } from '../../store/lake/history/versions.ts';
import type { IngestServices } from '../../pipeline/conform/load.ts';
import type { Edit } from '../../store/lake/edit.ts';
import { identifier } from '../../store/duckdb/sqlText.ts';

/** Files below this many records are put together. */
const SMALL_RECORDS = 1_000_000;
/**
 * So many of about one size make a new one. Each file costs a keyed read 0.7 ms: 250 appends of one
 * size leave about 8 files, and each record was written again four times until its file was large.
 */
const FILES_OF_A_SIZE = 4;
/** Smaller ones are of one size; beyond, one is four times the one before. */
const LEAST_SIZE_RECORDS = 20_000;
/** A file with this share of deleted records is written again without them. */
const HOLED_SHARE = 0.2;
/** Records of one compaction: its sort must fit the memory of ingestion. */
const RECORDS_MAX = 5_000_000;

/** The files to put together now; none when there is nothing worth it. */
function filesToCompact(files: readonly DataFile[], smallFiles: number): readonly DataFile[] {
  const holed = files.filter(
    ({ deletes, records }) => (deletes?.records ?? 0) >= records * HOLED_SHARE,
  );
  const wanted = [...new Set([...smallOnes(files, smallFiles), ...holed])];
  let records = 0;
  return wanted
    .toSorted((a, b) => a.records - b.records)
    .filter((file) => (records += file.records) <= RECORDS_MAX);
}

/** The smallest size of which there are enough, and all that is smaller. */
function smallOnes(files: readonly DataFile[], enough: number): readonly DataFile[] {
  const small = files.filter(({ records }) => records < SMALL_RECORDS);
  for (let most = LEAST_SIZE_RECORDS; ; most *= 4) {
    const upTo = small.filter(({ records }) => records < most);
    const ofSize = upTo.filter(({ records }) => most === LEAST_SIZE_RECORDS || records >= most / 4);
    if (ofSize.length >= enough) return upTo;
    if (most >= SMALL_RECORDS) return [];
  }
}

/** In the dataset's turn. How many files were put together. */
export async function compactDataset(
  dataset: Dataset,
  services: IngestServices,
  smallFiles = FILES_OF_A_SIZE,
): Promise<number> {
  const { lake, deadlineMs } = services;
  const table = await lake.table(dataset.tableId);
  const files = table === undefined ? [] : filesToCompact(table.files, smallFiles);
  if (table === undefined || files.length === 0) return 0;
  return inWorkspace(dataset.workspace, services, async ({ folder, pool }) => {
    const written = 'compacted.parquet';
    const made = join(folder, written);
    const stats = await withProvedFiles(lake.files, files, async ({ paths, pathOf }) => {
      const rows = files.reduce((sum, { records }) => sum + records, 0);
      const sql = copyTable(sortedRows(dataset, table, files, pathOf), made, table.columns, rows);
      const question = { files: paths, folder, statements: [sql], deadlineMs };
      return fileStats((await pool.rows({ ...question, ...writing(written, files) }))[0] ?? []);
    });
    services.at('parquet-written');
    const { tableId } = dataset;
    const removal: Edit = { kind: 'remove-files', tableId, fileIds: files.map(({ id }) => id) };
    const edits = [removal, ...(await publishFile(made, stats, table, lake, files))];
    const message = `${files.length} files of ${dataset.workspace}.${dataset.dataset} put together`;
    services.at('compaction-written');
    const touches = { kind: 'nothing' } as const;
    await lake.commit(edits, { author: COMPACTION_AUTHOR, message, touches });
    return files.length;
  });
}

function sortedRows(
  dataset: Dataset,
  table: Table,
  files: readonly DataFile[],
  pathOf: (relative: string) => string,
): string {
  const list = table.columns.map(({ name }) => identifier(name)).join(', ');
  const rows = visibleRows(files, table.columns, pathOf);
  return `SELECT ${list} FROM ${rows}${orderBy(uniqueIndexOf(dataset, table))}`;
}
