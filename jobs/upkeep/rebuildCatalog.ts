// Rebuilds datasets from files without their catalog: the stamp in each file identifies the files of the
// latest version, and their records become datasets of the current catalog. The files are not moved.
import { join } from 'node:path';
import { publishFile } from '../../pipeline/merge/ingest.ts';
import { copyTable, fileStats } from '../../pipeline/batch/parquetFile.ts';
import { isNumbered } from '../../pipeline/batch/uniqueIndex.ts';
import {
  type Column,
  isSystemColumn,
  parseSqlType,
  toProperty,
  type PropertyType,
  sqlType,
} from '../../store/lake/versions/columns.ts';
import { createDataset, createWorkspace } from '../../store/lake/datasetEdits.ts';
import {
  type Dataset,
  listRequired,
  DATASET_DEFAULTS,
} from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import type { DataFile, Table } from '../../store/lake/versions/lakeRead.ts';
import { newUuid } from '../../store/base/random.ts';
import { visibleRows } from '../../store/lake/versions/tableSql.ts';
import { withWorkFolder } from '../../store/base/workFolder.ts';
import { type FoundTable, findFilesInForce, type StampedFile } from './foundFiles.ts';
import type { Edit } from '../../store/lake/edit.ts';
import type { IngestServices } from '../../pipeline/conform/load.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

interface ClaimParts {
  readonly ingestion: IngestServices;
  /** Owner of workspaces that are created. */
  readonly accountId: string;
  /** Folder of the files, by their paths in the lake. */
  readonly root: string;
}

interface Claimed {
  readonly workspace: string;
  readonly dataset: string;
  readonly files: number;
  readonly records: number;
  /** Notes for the owner. */
  readonly note: string;
}

const AUTHOR = 'tapedeck repair';

/** Creates datasets from found tables; those of the program itself are left out. */
export async function rebuildTables(
  tables: readonly FoundTable[],
  parts: ClaimParts,
): Promise<readonly Claimed[]> {
  const claimed: Claimed[] = [];
  for (const table of tables) {
    const one = table.workspace.startsWith('_') ? undefined : await claimTable(table, parts);
    if (one !== undefined) claimed.push(one);
  }
  return claimed;
}

async function claimTable(foundTable: FoundTable, parts: ClaimParts): Promise<Claimed | undefined> {
  const { ingestion } = parts;
  const { lake, temporary } = ingestion;
  const force = findFilesInForce(foundTable.files);
  if (force.data.length === 0) return undefined;
  return withWorkFolder(temporary, async (folder) => {
    const columns = await columnsIn(force.data, parts);
    const { dataset, table } = await createTarget(foundTable, columns, parts);
    const edits: Edit[] = [];
    let records = 0;
    for (const file of force.data) {
      const copy = await rewriteFile(file, force.deletes, columns, table, folder, parts);
      records += copy.stats.records;
      edits.push(...(await publishFile(copy.path, copy.stats, table, lake)));
    }
    const message = `${records} records of ${force.data.length} files found without their catalog`;
    await lake.commit(edits, { author: AUTHOR, message });
    const { dataset: name, workspace } = dataset;
    const notes = [
      ...(name === foundTable.dataset
        ? []
        : [`${workspace}.${foundTable.dataset} is there and stays as it is`]),
      ...(force.unsure ? ['it may hold records twice: compare it with its source'] : []),
    ];
    const note = notes.join('; ');
    return { workspace, dataset: name, files: force.data.length, records, note };
  });
}

/** Columns of the newest file, by their ids. */
async function columnsIn(
  files: readonly StampedFile[],
  { ingestion: { deadlineMs, pool }, root }: ClaimParts,
): Promise<readonly Column[]> {
  const path = join(root, files.at(-1)?.path ?? '');
  const statement = `SELECT field_id AS id, name, duckdb_type AS type
    FROM parquet_schema(${literal(path)}) WHERE field_id IS NOT NULL AND duckdb_type IS NOT NULL
    ORDER BY field_id`;
  const [rows = []] = await pool.rows({ files: [path], statements: [statement], deadlineMs });
  return rows.map((row) => {
    const type = parseSqlType(String(row['type']));
    if (type === undefined) throw new Failure('Conflict', `${path} is no file of a lake`);
    return { id: Number(row['id']), name: String(row['name']), type, nullable: true };
  });
}

/** Creates a dataset with the original name, or with a suffix where that is taken. */
async function createTarget(
  { date, dataset, key, subkey, workspace }: FoundTable,
  columns: readonly Column[],
  { accountId, ingestion: { clock, lake } }: ClaimParts,
): Promise<{ readonly dataset: Dataset; readonly table: Table }> {
  if (lake.directory.workspace(workspace) === undefined) {
    await createWorkspace(lake, workspace, accountId, clock());
  }
  const own = columns.filter(({ name }) => !isSystemColumn(name));
  const mapping = {
    ...(key === undefined ? {} : { key }),
    ...(subkey === undefined ? {} : { subkey }),
    ...(date === undefined ? {} : { date }),
  };
  const properties: Record<string, PropertyType> = {};
  for (const { name, type } of own) properties[name] = toProperty(type);
  const numbered = isNumbered({ columns });
  const index = { mapping, numbered, inferred: false };
  const required = listRequired(index);
  const schema = { type: 'object', properties, required } as const;
  const place = { ...DATASET_DEFAULTS, workspace, dataset: freeName(lake, workspace, dataset) };
  const created = await createDataset(lake, { ...place, schema, ...index }, AUTHOR);
  const table = await lake.table(created.tableId);
  if (table === undefined) throw new Failure('NotFound');
  return { dataset: created, table };
}

function freeName(lake: IngestServices['lake'], workspace: string, name: string): string {
  const isTaken = (one: string): boolean => lake.directory.dataset(workspace, one) !== undefined;
  for (let n = 1; ; n += 1) {
    const one = n === 1 ? name : `${name}_FOUND${n === 2 ? '' : n - 1}`;
    if (!isTaken(one)) return one;
  }
}

/** Copies the visible records of a file, with the columns of the new table. */
async function rewriteFile(
  file: StampedFile,
  deletes: ReadonlyMap<string, StampedFile>,
  columns: readonly Column[],
  table: Table,
  folder: string,
  { ingestion: { deadlineMs, pool }, root }: ClaimParts,
): Promise<{ readonly path: string; readonly stats: ReturnType<typeof fileStats> }> {
  const deleteFile = deletes.get(file.name);
  const pathOf = (path: string): string => join(root, path);
  const whole = { id: 0, records: 0, bytes: file.bytes, ranges: new Map(), proof: undefined };
  const holes = deleteFile === undefined ? null : { ...whole, path: deleteFile.path };
  const stored: DataFile = { ...whole, path: file.path, deletes: holes };
  const rows = visibleRows([stored], columns, pathOf);
  const list = table.columns.map(({ name, type }) => {
    const has = columns.some((column) => column.name === name);
    const value = has ? identifier(name) : 'NULL';
    return `CAST(${value} AS ${sqlType(type)}) AS ${identifier(name)}`;
  });
  const path = join(folder, `${newUuid()}.parquet`);
  const statement = copyTable(`SELECT ${list.join(', ')} FROM ${rows}`, path, table.columns);
  const files = [pathOf(file.path), ...(deleteFile === undefined ? [] : [pathOf(deleteFile.path)])];
  const [copied] = await pool.rows({ files, folder, statements: [statement], deadlineMs });
  return { path, stats: fileStats(copied ?? []) };
}
