// Datasets: create, list, get, change, rename, delete (INTERFACE.md 3.2, 3.3).
import type { Static } from 'typebox';
import { DATASET_BYTES_MAX } from '../../request/body/bodyLimits.ts';
import { Type } from '../../request/body/schema.ts';
import { flushDataset } from '../../../jobs/run/flush.ts';
import type { FetchOrder } from '../../../jobs/run/order.ts';
import { planReingest } from '../../../jobs/run/reingest.ts';
import { editIndex, type IndexEdit } from '../../../pipeline/edit/indexEdit.ts';
import { editSchema, type Existing } from '../../../pipeline/edit/schemaEdit.ts';
import {
  changeDataset as storeChanges,
  type DatasetChanges,
  type DatasetDraft,
  createDataset as makeDataset,
  dropDataset,
  renameDataset as storeName,
  replaceDataset,
  storeIndex,
} from '../../../store/lake/datasetEdits.ts';
import { type Dataset, requiredOf, UNSAID } from '../../../store/lake/datasets/datasets.ts';
import { isStandIn } from '../../../store/lake/datasets/standIns.ts';
import { Failure } from '../../../store/base/failure.ts';
import { clearTexts } from '../../../store/work/jobs.ts';
import type { Lake } from '../../../store/lake/lake.ts';
import { forgetQuarantined } from '../../../store/lake/datasets/quarantine.ts';
import { askScrub, scrubOrLater } from '../../../store/catalog/scrub.ts';
import { callerOf, checkDatasetRoom, datasetOf, workspaceOf } from '../../auth/access.ts';
import {
  CHANGE_DATASET,
  checkSmartLinks,
  CREATE_DATASET,
  describedBy,
  draftOf,
  editOf,
  indexEditOf,
  isConfirmation,
} from '../../datasets/datasetBody.ts';
import { checkExpectations, checkPatterns } from '../../datasets/contractBody.ts';
import { DATASET_VIEW, datasetView } from '../../datasets/datasetView.ts';
import { checkShares } from '../../datasets/shares.ts';
import type { Answer, Call, Endpoint, Services } from '../../request/endpoint.ts';
import { numberOf, truthOf } from '../../request/parameters.ts';
import { JOB_MADE, jobMade, WAIT } from './jobs.ts';
import { viewAsDataset } from '../read/views.ts';

type DatasetsServices = Pick<
  Services,
  | 'accounts'
  | 'clock'
  | 'database'
  | 'ingestion'
  | 'lake'
  | 'pending'
  | 'queries'
  | 'runner'
  | 'scrub'
>;

/** Datasets of one list: as many as the largest tier may have. */
const LIST_MAX = 5_000;

const CHANGED = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  datasetId: Type.String(),
});

const changed = (message: string, datasetId: string): Answer => ({
  kind: 'json',
  value: { success: true, message, datasetId },
  metering: 'free',
});

/** What all rows of this file have in common. */
const ROW = {
  token: 'secret',
  weight: 'free',
  parameters: [],
  failures: 'workspace',
} as const satisfies Partial<Endpoint>;

const ownDataset = (call: Call, lake: Lake): Dataset => {
  const { workspace = '', id = '' } = call.path;
  const caller = callerOf(call.caller);
  return datasetOf(caller, workspaceOf(caller, workspace, lake).workspace, id, lake);
};

/** A view is shown as a dataset. */
function viewOfOwner(
  call: Call,
  { lake, queries }: Pick<Services, 'lake' | 'queries'>,
): object | undefined {
  const { workspace = '', id = '' } = call.path;
  const owned = workspaceOf(callerOf(call.caller), workspace, lake);
  const view = queries.view(owned.workspace, id);
  return view === undefined ? undefined : viewAsDataset(view);
}

export const createDataset: Endpoint = {
  ...ROW,
  id: 'createDataset',
  method: 'POST',
  path: '/datasets/:workspace/:id?',
  summary: 'Creates a dataset from its schema, or changes the one whose id is in the path.',
  body: { kind: 'json', schema: CREATE_DATASET, bytesMax: DATASET_BYTES_MAX },
  answer: Type.Union([CHANGED, JOB_MADE]),
  handle: async (call, services) => {
    const { lake } = services;
    const caller = callerOf(call.caller);
    const owned = workspaceOf(caller, call.path['workspace'] ?? '', lake);
    const { workspace } = owned;
    const { id } = call.path;
    const body = call.json as Static<typeof CREATE_DATASET>;
    checkShares(body.dataset.access, owned, services);
    const named = lake.directory.dataset(workspace, id ?? body.dataset.datasetId ?? '');
    const standIn = named !== undefined && isStandIn(named) ? named : undefined;
    if (id !== undefined && named !== undefined && standIn === undefined) {
      return changeOwn(call, body.dataset, services);
    }
    const draft = draftOf(workspace, call.path['id'], body, services.ingestion.defaultsOf);
    if (standIn === undefined) checkDatasetRoom(caller, owned, draft.dataset, services);
    await checkPatterns(draft.expectations, services.ingestion.pool);
    if (standIn !== undefined) {
      const { access, weight } = body.dataset;
      const kept = {
        ...(access === undefined ? { access: standIn.access } : {}),
        ...(weight === undefined ? { weight: standIn.weight } : {}),
      };
      const whole = { ...draft, ...kept };
      await giveWay(standIn, async () => whole, caller.accountId, services);
      return changed('Dataset has been created', standIn.dataset);
    }
    const { dataset } = await makeDataset(lake, draft, caller.accountId);
    return changed('Dataset has been created', dataset);
  },
};

export const listDatasets: Endpoint = {
  ...ROW,
  id: 'listDatasets',
  method: 'GET',
  path: '/datasets/:workspace',
  summary: 'The datasets of a workspace, with their schema and counts.',
  parameters: [
    { kind: 'integer', name: 'limit', least: 1, most: LIST_MAX, help: 'At most n datasets.' },
  ],
  answer: Type.Array(DATASET_VIEW),
  handle: async (call, services) => {
    const { directory } = services.lake;
    const caller = callerOf(call.caller);
    const { workspace } = workspaceOf(caller, call.path['workspace'] ?? '', services.lake);
    const limit = numberOf(call.query, 'limit') ?? LIST_MAX;
    const datasets = directory.datasets(workspace).slice(0, limit);
    const views = services.queries.views(workspace).slice(0, limit - datasets.length);
    const shown = await Promise.all(datasets.map((dataset) => datasetView(dataset, services)));
    const value = [...shown, ...views.map(viewAsDataset)];
    return { kind: 'json', value, metering: 'free' };
  },
};

export const getDataset: Endpoint = {
  ...ROW,
  id: 'getDataset',
  method: 'GET',
  path: '/datasets/:workspace/:id',
  summary: 'A dataset, with its schema and counts.',
  answer: DATASET_VIEW,
  handle: async (call, services) => {
    const { workspace = '', id = '' } = call.path;
    const isDataset = services.lake.directory.dataset(workspace, id) !== undefined;
    const view = isDataset ? undefined : viewOfOwner(call, services);
    const value = view ?? (await datasetView(ownDataset(call, services.lake), services));
    return { kind: 'json', value, metering: 'free' };
  },
};

export const changeDataset: Endpoint = {
  ...ROW,
  id: 'changeDataset',
  method: 'PATCH',
  path: '/datasets/:workspace/:id',
  summary: 'Changes what a dataset says of itself, its contract, its expectations or its schema.',
  parameters: [WAIT],
  body: { kind: 'json', schema: CHANGE_DATASET, bytesMax: DATASET_BYTES_MAX },
  answer: Type.Union([CHANGED, JOB_MADE]),
  handle: (call, services) => {
    const { dataset: wrapped, ...bare } = call.json as Static<typeof CHANGE_DATASET>;
    return changeOwn(call, wrapped ?? bare, services);
  },
};

type Changes = Omit<Static<typeof CHANGE_DATASET>, 'dataset'>;

/** What `PATCH` does, and `POST` with the id of a dataset that is there: iexjs updates so. */
async function changeOwn(call: Call, body: Changes, services: DatasetsServices): Promise<Answer> {
  const { lake, pending, runner } = services;
  const { workspace, dataset: name } = ownDataset(call, lake);
  const { accountId } = callerOf(call.caller);
  checkShares(body.access, { accountId, workspace }, services);
  if (body.existing !== undefined && body.schema === undefined) {
    throw new Failure('InvalidBody', 'existing must stand beside schema');
  }
  const owned = ownDataset(call, lake);
  if (isStandIn(owned) && saysOfRecords(body)) {
    await giveWay(owned, (standIn) => becomingReal(standIn, body, services), accountId, services);
    return changed('Dataset has been updated', name);
  }
  if (body.existing === 're-ingest') return reingest(call, body, services);
  await runner.inTurn(workspace, name, async () => {
    const { tableId } = ownDataset(call, lake);
    const isIndexed = body.columnMapping !== undefined || body.uniqueIndex !== undefined;
    if (body.schema === undefined && !isIndexed) return changeInTurn(call, body, services);
    // What is pushed meanwhile waits for its turn: it was checked by the schema as it was.
    await pending.holding(tableId, async () => {
      await flushDataset(ownDataset(call, lake), services);
      await changeInTurn(call, body, services);
    });
  });
  return changed('Dataset has been updated', name);
}

/** Members that say nothing of records, and stay when a stand-in gives way: others make it its owner's. */
const SAID_OF_ANY: readonly string[] = ['title', 'weight', 'access', 'smartLinkAttributes'];

const saysOfRecords = (body: Changes): boolean =>
  Object.entries(body).some(
    ([member, value]) => value !== undefined && !SAID_OF_ANY.includes(member),
  );

/** A stand-in's invented records go; the dataset as its owner wants it is there instead, empty. */
async function giveWay(
  { dataset, tableId, workspace }: Dataset,
  draftFor: (standIn: Dataset) => Promise<DatasetDraft>,
  accountId: string,
  { lake, runner }: Pick<Services, 'lake' | 'runner'>,
): Promise<void> {
  await runner.inTurn(workspace, dataset, async () => {
    const standIn = lake.directory.datasetById(tableId);
    if (standIn === undefined || !isStandIn(standIn)) {
      throw new Failure('Conflict', `dataset ${dataset} was changed meanwhile: try again`);
    }
    const draft = await draftFor(standIn);
    await replaceDataset(lake, standIn, { ...draft, dataset: standIn.dataset }, accountId);
  });
}

/** What a change makes of a stand-in: nothing that was said of the invented records stays. */
async function becomingReal(
  standIn: Dataset,
  body: Changes,
  services: DatasetsServices,
): Promise<DatasetDraft> {
  const { description, historyDays, source } = UNSAID;
  const was = { ...standIn, description, historyDays, source };
  const { changes } = await changesOf(was, body, services);
  const { schema } = changes;
  const { inferred, mapping, numbered } = indexEditOf(body, { ...was, schema }) ?? standIn;
  const index = { inferred, mapping, numbered };
  return { ...was, ...changes, ...index, schema: { ...schema, required: requiredOf(index) } };
}

/** A job that reads everything again, with the schema as it becomes. */
async function reingest(call: Call, body: Changes, services: DatasetsServices): Promise<Answer> {
  const { database, ingestion, lake, runner } = services;
  const { accountId } = callerOf(call.caller);
  const { workspace, dataset: name } = ownDataset(call, lake);
  const parts = { database, services: ingestion };
  const order: FetchOrder = await runner.inTurn(workspace, name, async () => {
    const dataset = ownDataset(call, lake);
    const { changes } = await changesOf(dataset, body, services);
    return planReingest(dataset, changes, accountId, parts);
  });
  const jobId = await runner.submit(order);
  return jobMade(`Re-ingestion of ${name}`, workspace, jobId, call, services);
}

async function changeInTurn(call: Call, body: Changes, services: DatasetsServices): Promise<void> {
  const { clock, ingestion, lake } = services;
  const { accountId } = callerOf(call.caller);
  const dataset = ownDataset(call, lake);
  const { changes, edit } = await changesOf(dataset, body, services);
  const index = indexEditOf(body, dataset);
  if (index !== undefined) return changeIndex(call, dataset, index, body, services);
  const existing = (body.existing ?? 'leave') as Existing;
  const discardsValues = changes.contract.types === 'discard_value';
  await editSchema(dataset, { ...edit, existing, discardsValues }, ingestion, (edits) =>
    storeChanges(lake, dataset, changes, edits, accountId, clock()),
  );
}

/** @throws Failure InvalidBody beside a change of the schema: each rewrites all records in its own way. */
async function changeIndex(
  call: Call,
  dataset: Dataset,
  index: IndexEdit,
  body: Changes,
  services: DatasetsServices,
): Promise<void> {
  const { clock, ingestion, lake } = services;
  if (body.schema !== undefined) {
    throw new Failure(
      'InvalidBody',
      'columnMapping and schema must be changed one after the other',
    );
  }
  const { mapping } = index;
  const { accountId } = callerOf(call.caller);
  const { changes } = await changesOf({ ...dataset, mapping }, body, services);
  const schema = { ...changes.schema, required: requiredOf(index) };
  const becoming = { ...changes, schema };
  const commit = (edits: Parameters<typeof storeChanges>[3]): Promise<void> =>
    storeChanges(lake, dataset, becoming, edits, accountId, clock(), (transaction) =>
      storeIndex(transaction, dataset, index),
    );
  // An inferred unique index that is declared as it is changes no record.
  await (isConfirmation(dataset, index)
    ? commit([])
    : editIndex(dataset, index, ingestion, commit));
}

/** What a body makes of a dataset. @throws Failure InvalidBody naming the member and its rule. */
async function changesOf(
  dataset: Dataset,
  body: Changes,
  { ingestion }: Pick<Services, 'ingestion'>,
): Promise<{
  readonly changes: DatasetChanges;
  readonly edit: Omit<ReturnType<typeof editOf>, 'schema'>;
}> {
  const { mapping } = dataset;
  const given = (body.schema?.properties ?? {}) as Parameters<typeof editOf>[1];
  const { schema, ...edit } = editOf(dataset, given);
  const { properties } = schema;
  const changes = { ...describedBy(body, dataset), schema };
  checkSmartLinks(changes.smartLinks, Object.keys(properties));
  checkExpectations(changes.expectations, { properties, mapping });
  await checkPatterns(changes.expectations, ingestion.pool);
  return { changes, edit };
}

export const deleteDataset: Endpoint = {
  ...ROW,
  id: 'deleteDataset',
  method: 'DELETE',
  path: '/datasets/:workspace/:id',
  summary: 'Deletes a dataset with all its records.',
  parameters: [
    {
      kind: 'boolean',
      name: 'purge',
      help: 'true: removes it permanently from every version, also for other readers of the files.',
    },
  ],
  answer: CHANGED,
  handle: async (call, services) => {
    const { lake, runner } = services;
    const { workspace, dataset: name } = ownDataset(call, lake);
    await runner.inTurn(workspace, name, () => dropFound(call, services));
    if (truthOf(call.query, 'purge')) await scrubOrLater(services.scrub);
    return changed('Dataset has been deleted', name);
  },
};

async function dropFound(
  call: Call,
  { lake, pending }: Pick<Services, 'lake' | 'pending'>,
): Promise<void> {
  const dataset = ownDataset(call, lake);
  const { tableId } = dataset;
  const purges = truthOf(call.query, 'purge');
  const { accountId } = callerOf(call.caller);
  const unnamed = await dropDataset(lake, dataset, accountId, purges, async (transaction) => {
    await pending.drop(transaction, tableId);
    await forgetQuarantined(transaction, tableId, {});
    if (!purges) return;
    await clearTexts(transaction, dataset);
    await askScrub(transaction);
  });
  pending.dropped(tableId);
  await lake.files.remove(unnamed);
}

export const renameDataset: Endpoint = {
  ...ROW,
  id: 'renameDataset',
  method: 'PUT',
  path: '/datasets/:workspace/:id/:newId',
  summary: 'Renames a dataset; its history stays readable under the new name.',
  answer: CHANGED,
  handle: async (call, { lake, queries, runner }) => {
    const { accountId } = callerOf(call.caller);
    const { newId = '' } = call.path;
    const { workspace, dataset: name } = ownDataset(call, lake);
    queries.refuseTaken(workspace, newId);
    await runner.inTurn(workspace, name, () =>
      storeName(lake, ownDataset(call, lake), newId, accountId),
    );
    return changed('Dataset has been renamed', newId);
  },
};
