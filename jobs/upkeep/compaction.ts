// Merges many small files into few, without deleted records: a new file replaces the old ones in one commit.
// No record changes, old versions keep their files, and readers see either state.
import { join } from 'node:path';
import { publishFile } from '../../pipeline/merge/ingest.ts';
import { copyTable, fileStats, remoteWriteOptions } from '../../pipeline/batch/parquetFile.ts';
import { orderBy, buildUniqueIndex } from '../../pipeline/batch/uniqueIndex.ts';
import type { Dataset } from '../../store/lake/datasets/datasets.ts';
import type { DataFile, Table } from '../../store/lake/versions/lakeRead.ts';
import { withVerifiedFiles } from '../../store/lake/versions/tableFiles.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import { withWorkFolder } from '../../pipeline/bytes/workbench.ts';
import { COMPACTION_AUTHOR } from '../../store/lake/history/versions.ts';
import type { IngestServices } from '../../pipeline/conform/load.ts';
import type { Edit } from '../../store/lake/edit.ts';
import { identifier } from '../../store/duckdb/sqlText.ts';

/** Files below this many records are merged. */
const SMALL_RECORDS = 1_000_000;
/**
 * Files of about one size that are merged into one. Each file costs a keyed read 0.7 ms: 250 appends of one
 * size leave about 8 files, and each record was rewritten four times until its file was large.
 */
const FILES_OF_A_SIZE = 4;
/** All files below this are of one size class; each further class is four times larger. */
const LEAST_SIZE_RECORDS = 20_000;
/** A file with this share of deleted records is rewritten without them. */
const HOLED_SHARE = 0.2;
/** Records of one compaction: its sort must fit the memory of ingestion. */
const RECORDS_MAX = 5_000_000;

/** The files to merge now; none when it is not worth it. */
function selectFiles(files: readonly DataFile[], smallFiles: number): readonly DataFile[] {
  const holed = files.filter(
    ({ deletes, records }) => (deletes?.records ?? 0) >= records * HOLED_SHARE,
  );
  const candidates = [...new Set([...selectSmallFiles(files, smallFiles), ...holed])];
  let records = 0;
  return candidates
    .toSorted((a, b) => a.records - b.records)
    .filter((file) => (records += file.records) <= RECORDS_MAX);
}

/** The smallest size class with enough files, and all smaller files. */
function selectSmallFiles(files: readonly DataFile[], enough: number): readonly DataFile[] {
  const small = files.filter(({ records }) => records < SMALL_RECORDS);
  for (let most = LEAST_SIZE_RECORDS; ; most *= 4) {
    const upTo = small.filter(({ records }) => records < most);
    const ofSize = upTo.filter(({ records }) => most === LEAST_SIZE_RECORDS || records >= most / 4);
    if (ofSize.length >= enough) return upTo;
    if (most >= SMALL_RECORDS) return [];
  }
}

/** Runs in the dataset's turn; returns the count of merged files. */
export async function compactDataset(
  dataset: Dataset,
  services: IngestServices,
  smallFiles = FILES_OF_A_SIZE,
): Promise<number> {
  const { lake, deadlineMs } = services;
  const table = await lake.table(dataset.tableId);
  const files = table === undefined ? [] : selectFiles(table.files, smallFiles);
  if (table === undefined || files.length === 0) return 0;
  return withWorkFolder(dataset.workspace, services, async ({ folder, pool }) => {
    const written = 'compacted.parquet';
    const path = join(folder, written);
    const stats = await withVerifiedFiles(lake.files, files, async ({ paths, pathOf }) => {
      const rows = files.reduce((sum, { records }) => sum + records, 0);
      const sql = copyTable(sortedRows(dataset, table, files, pathOf), path, table.columns, rows);
      const query = { files: paths, folder, statements: [sql], deadlineMs };
      return fileStats(
        (await pool.rows({ ...query, ...remoteWriteOptions(written, files) }))[0] ?? [],
      );
    });
    services.at('parquet-written');
    const { tableId } = dataset;
    const removal: Edit = { kind: 'remove-files', tableId, fileIds: files.map(({ id }) => id) };
    const edits = [removal, ...(await publishFile(path, stats, table, lake, files))];
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
  return `SELECT ${list} FROM ${rows}${orderBy(buildUniqueIndex(dataset, table))}`;
}
