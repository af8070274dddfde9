// Creates, changes, renames and drops workspaces and datasets: each in one commit of the lake together with
// its catalog row.
import type { Insertable } from 'kysely';
import { markPartial } from './datasets/loadedFiles.ts';
import {
  type Column,
  checkName,
  toColumnType,
  CREATED_COLUMN,
  ROW_COLUMN,
  SOURCE_COLUMN,
  UPDATED_COLUMN,
} from './versions/columns.ts';
import type { CommitResult } from './commit.ts';
import type { Expectation, SchemaContract } from './datasets/contracts.ts';
import type { Database, Tables } from '../catalog/database.ts';
import type {
  Access,
  Dataset,
  DatasetIndex,
  RecordSchema,
  SmartLink,
  Workspace,
} from './datasets/datasets.ts';
import {
  updateDatasetRow,
  deleteDatasetRow,
  insertDatasetRow,
  insertWorkspaceRow,
} from './datasets/datasetRows.ts';
import { Failure } from '../base/failure.ts';
import { refuseView } from './datasets/nameCollisions.ts';
import type { Lake } from './lake.ts';
import type { Edit } from './edit.ts';

export type DatasetDraft = Omit<Dataset, 'tableId' | 'createdMs' | 'updatedMs'>;

/** Members of a dataset that its owner may change. */
export interface DatasetChanges {
  readonly title: string;
  readonly description: string;
  readonly source: string;
  readonly license: string;
  readonly weight: number;
  readonly access: Access;
  readonly smartLinks: readonly SmartLink[];
  readonly historyDays: number | null;
  readonly contract: SchemaContract;
  readonly expectations: readonly Expectation[];
  readonly schema: RecordSchema;
}

/** @throws Failure Conflict when the name exists, ignoring case. */
export async function createWorkspace(
  lake: Lake,
  name: string,
  accountId: string,
  nowMs: number,
): Promise<Workspace> {
  checkName('workspace', name);
  return insertWorkspace(lake, name, accountId, nowMs);
}

/** Creates a workspace of the program, whose name is reserved. */
export const createSystemWorkspace = (
  lake: Lake,
  name: string,
  nowMs: number,
): Promise<Workspace> => insertWorkspace(lake, name, '', nowMs);

async function insertWorkspace(
  lake: Lake,
  name: string,
  accountId: string,
  nowMs: number,
): Promise<Workspace> {
  await lake.commit(
    [{ kind: 'create-workspace', name }],
    { author: accountId, message: `workspace ${name}` },
    async (transaction, { created }) => {
      const row = { workspace: name, account_id: accountId, schema_id: created[0] ?? 0 };
      const values = { ...row, created_ms: nowMs };
      await insertWorkspaceRow(transaction, values);
    },
    () => {
      if (lake.directory.workspace(name) !== undefined) {
        throw new Failure('Conflict', `workspace ${name} exists already`);
      }
    },
  );
  return requireFound(lake.directory.workspace(name));
}

/** @throws Failure Conflict when the workspace has the name, ignoring case. */
export async function createDataset(
  lake: Lake,
  draft: DatasetDraft,
  author: string,
): Promise<Dataset> {
  const workspace = requireFound(lake.directory.workspace(draft.workspace));
  checkName('datasetId', draft.dataset);
  const schema = { schemaId: workspace.schemaId, schemaName: workspace.workspace };
  await lake.commit(
    [{ kind: 'create-table', ...schema, name: draft.dataset, columns: buildColumns(draft) }],
    { author, message: `dataset ${draft.workspace}.${draft.dataset}` },
    (transaction, { created, timeMs }) =>
      insertDataset(transaction, draft, created[0] ?? 0, timeMs),
    () => refuseExisting(lake, draft.workspace, draft.dataset),
  );
  return requireFound(lake.directory.dataset(draft.workspace, draft.dataset));
}

/** Replaces a dataset by an empty one of the same name, in one commit. */
export async function replaceDataset(
  lake: Lake,
  before: Dataset,
  draft: DatasetDraft,
  author: string,
): Promise<void> {
  const { tableId } = before;
  const workspace = requireFound(lake.directory.workspace(draft.workspace));
  const schema = { schemaId: workspace.schemaId, schemaName: workspace.workspace };
  await lake.commit(
    [
      { kind: 'drop-table', tableId },
      { kind: 'create-table', ...schema, name: draft.dataset, columns: buildColumns(draft) },
    ],
    { author, message: `dataset ${draft.workspace}.${draft.dataset} replaced` },
    async (transaction, { created, timeMs }) => {
      await deleteDatasetRow(transaction, tableId);
      await transaction.deleteFrom('history_floor').where('table_id', '=', tableId).execute();
      await insertDataset(transaction, draft, created[0] ?? 0, timeMs);
    },
  );
}

/** Renames a dataset; history and old snapshots stay readable under the new name. */
export async function renameDataset(
  lake: Lake,
  dataset: Dataset,
  name: string,
  author: string,
): Promise<void> {
  checkName('newId', name);
  const { tableId, workspace } = dataset;
  await lake.commit(
    [{ kind: 'rename-table', tableId, schemaName: workspace, name }],
    { author, message: `dataset ${workspace}.${dataset.dataset} renamed to ${name}` },
    async (transaction) => {
      await refuseView(transaction, workspace, name);
      const values = { dataset: name };
      await updateDatasetRow(transaction, tableId, values);
      // Finished jobs stay with the dataset; an unfinished job loads into the dataset that has its name by
      // then.
      await transaction
        .updateTable('job')
        .set(values)
        .where('workspace', '=', workspace)
        .where('dataset', '=', dataset.dataset)
        .where('finished_ms', 'is not', null)
        .execute();
    },
    () => {
      const isSameName = dataset.dataset.toUpperCase() === name.toUpperCase();
      if (!isSameName || dataset.dataset === name) refuseExisting(lake, workspace, name);
    },
  );
}

/**
 * Drops a dataset.
 * @param purges also removes it from all versions
 * @param alongside removes other data of the dataset in the same transaction
 * @returns unreferenced files to remove
 */
export async function dropDataset(
  lake: Lake,
  dataset: Dataset,
  author: string,
  purges: boolean,
  alongside: (transaction: Database) => Promise<void>,
): Promise<readonly string[]> {
  const { tableId, workspace } = dataset;
  const endHistory: Edit = { kind: 'end-history', tableId, records: 0 };
  const { unnamed } = await lake.commit(
    [{ kind: 'drop-table', tableId }, ...(purges ? [endHistory] : [])],
    { author, message: `dataset ${workspace}.${dataset.dataset} dropped` },
    async (transaction) => {
      await deleteDatasetRow(transaction, tableId);
      // The start of its history can't be requested any more.
      await transaction.deleteFrom('history_floor').where('table_id', '=', tableId).execute();
      await alongside(transaction);
    },
  );
  return unnamed;
}

/**
 * Changes a dataset.
 * @param edits table edits of a changed schema
 * @param alongside other changes in the same transaction
 */
export async function updateDataset(
  lake: Lake,
  { dataset, tableId, workspace }: Dataset,
  changes: DatasetChanges,
  edits: readonly Edit[],
  author: string,
  nowMs: number,
  alongside?: (transaction: Database, committed: CommitResult) => Promise<void>,
): Promise<void> {
  const { description, license, schema, source, title, weight } = changes;
  const message = `dataset ${workspace}.${dataset} changed`;
  await lake.commit(edits, { author, message }, async (transaction, committed) => {
    await updateDatasetRow(transaction, tableId, {
      title,
      description,
      source,
      license,
      weight,
      ...buildJsonColumns(changes),
      schema_json: JSON.stringify(schema),
      updated_ms: nowMs,
    });
    await markPartial(transaction, tableId);
    await alongside?.(transaction, committed);
  });
}

/** Turns a placeholder into its owner's dataset, inside the transaction; id and name stay. */
export async function replacePlaceholderRow(
  transaction: Database,
  { tableId }: Dataset,
  draft: DatasetDraft,
  timeMs: number,
): Promise<void> {
  const times = { created_ms: timeMs, updated_ms: timeMs };
  await updateDatasetRow(transaction, tableId, { ...buildDatasetRow(draft), ...times });
}

/** Stores another index of a dataset, inside the transaction. */
export async function updateIndex(
  transaction: Database,
  { tableId }: Dataset,
  index: DatasetIndex,
): Promise<void> {
  await updateDatasetRow(transaction, tableId, indexRow(index));
}

const indexRow = ({ inferred, mapping, numbered }: DatasetIndex) => ({
  mapping_json: JSON.stringify(mapping),
  is_numbered: numbered ? 1 : 0,
  is_inferred: inferred ? 1 : 0,
});

/** Builds the dataset's physical columns: the owner's properties, then the system's. */
export function buildColumns(draft: DatasetDraft, firstId = 1): readonly Column[] {
  const required = new Set(draft.schema.required);
  const isSameName = Object.entries(draft.schema.properties).map(([name, property]) => ({
    name,
    type: toColumnType(property),
    nullable: !required.has(name),
  }));
  const created = { name: CREATED_COLUMN, type: 'timestamp', nullable: false } as const;
  const row = { name: ROW_COLUMN, type: 'int64', nullable: false } as const;
  const source = { name: SOURCE_COLUMN, type: 'int64', nullable: true } as const;
  const updated = { name: UPDATED_COLUMN, type: 'timestamp', nullable: false } as const;
  const dated = draft.mapping.date === undefined ? [created] : [];
  const columns = [...isSameName, ...dated, ...(draft.numbered ? [row, source] : []), updated];
  return columns.map((column, index) => ({ ...column, id: index + firstId }));
}

function refuseExisting(lake: Lake, workspace: string, name: string): void {
  if (lake.directory.dataset(workspace, name) === undefined) return;
  throw new Failure('Conflict', `dataset ${name} exists already`);
}

function requireFound<T>(value: T | undefined): T {
  if (value === undefined) throw new Failure('NotFound');
  return value;
}

async function insertDataset(
  transaction: Database,
  draft: DatasetDraft,
  tableId: number,
  timeMs: number,
): Promise<void> {
  await insertDatasetRow(transaction, {
    table_id: tableId,
    workspace: draft.workspace,
    dataset: draft.dataset,
    ...buildDatasetRow(draft),
    created_ms: timeMs,
    updated_ms: timeMs,
  });
}

const buildDatasetRow = (draft: DatasetDraft) => ({
  title: draft.title,
  description: draft.description,
  source: draft.source,
  license: draft.license,
  weight: draft.weight,
  schema_json: JSON.stringify(draft.schema),
  ...indexRow(draft),
  ...buildJsonColumns(draft),
});

type JsonMember =
  'access_json' | 'smart_links_json' | 'history_days' | 'contract_json' | 'expectations_json';

/** Converts members that are stored as JSON, or under another name. */
const buildJsonColumns = ({
  access,
  contract,
  expectations,
  historyDays,
  smartLinks,
}: Pick<DatasetDraft, 'access' | 'contract' | 'expectations' | 'historyDays' | 'smartLinks'>): Pick<
  Insertable<Tables['dataset']>,
  JsonMember
> => ({
  access_json: JSON.stringify(access),
  smart_links_json: JSON.stringify(smartLinks),
  history_days: historyDays,
  contract_json: JSON.stringify(contract),
  expectations_json: expectations.length === 0 ? null : JSON.stringify(expectations),
});
