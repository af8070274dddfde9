// Datasets: create, list, get, change, rename, delete (INTERFACE.md 3.2, 3.3).
import type { Static } from 'typebox';
import { DATASET_BYTES_MAX } from '../../../reads/request/bodyLimits.ts';
import { Type } from '../../../reads/request/schema.ts';
import { flushDataset } from '../../../jobs/run/flush.ts';
import type { FetchOrder } from '../../../jobs/run/order.ts';
import { planReingest } from '../../../jobs/run/reingest.ts';
import { editIndex, type IndexEdit } from '../../../pipeline/edit/indexEdit.ts';
import { editSchema, type Existing } from '../../../pipeline/edit/schemaEdit.ts';
import {
  updateDataset as storeChanges,
  type DatasetChanges,
  type DatasetDraft,
  createDataset as makeDataset,
  dropDataset,
  renameDataset as storeName,
  replaceDataset,
  updateIndex,
} from '../../../store/lake/datasetEdits.ts';
import {
  type Dataset,
  listRequired,
  DATASET_DEFAULTS,
} from '../../../store/lake/datasets/datasets.ts';
import { isPlaceholder } from '../../../store/lake/datasets/placeholders.ts';
import { Failure } from '../../../store/base/failure.ts';
import { purgeTexts } from '../../../store/work/jobs.ts';
import type { Lake } from '../../../store/lake/lake.ts';
import { removeQuarantined } from '../../../store/lake/datasets/quarantine.ts';
import { requestScrub, scrubOrLater } from '../../../store/catalog/scrub.ts';
import {
  checkDatasetRoom,
  findDataset,
  findManagedWorkspace,
} from '../../../reads/rights/access.ts';
import {
  CHANGE_DATASET,
  checkSmartLinks,
  CREATE_DATASET,
  mergeDescription,
  buildDraft,
  planPropertyEdit,
  planIndexEdit,
  isConfirmation,
} from '../../datasets/datasetBody.ts';
import { checkExpectations, checkPatterns } from '../../datasets/contractBody.ts';
import { DATASET_VIEW, datasetView } from '../../datasets/datasetView.ts';
import { checkShares } from '../../datasets/shares.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import type { Answer } from '../../../reads/request/answer.ts';
import { numberOf, truthOf } from '../../../reads/request/parameters.ts';
import { JOB_CREATED, answerJobCreated, WAIT } from './jobs.ts';
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

const changedAnswer = (action: string, datasetId: string): Answer => ({
  kind: 'json',
  value: { success: true, message: `Dataset has been ${action}`, datasetId },
  metering: 'free',
});

/** Common members of the rows. */
const ROW = {
  token: 'secret',
  weight: 'free',
  parameters: [],
  failures: 'workspace',
} as const satisfies Partial<Endpoint>;

const ownDataset = (call: Call, lake: Lake): Dataset => {
  const { workspace = '', id = '' } = call.path;
  const { caller } = call;
  return findDataset(caller, findManagedWorkspace(caller, workspace, lake).workspace, id, lake);
};

/** The view of that name, rendered as a dataset. */
function findOwnView(
  call: Call,
  { lake, queries }: Pick<Services, 'lake' | 'queries'>,
): object | undefined {
  const { workspace = '', id = '' } = call.path;
  const owned = findManagedWorkspace(call.caller, workspace, lake);
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
  answer: Type.Union([CHANGED, JOB_CREATED]),
  handle: async (call, services) => {
    const { lake } = services;
    const { caller } = call;
    const owned = findManagedWorkspace(caller, call.path['workspace'] ?? '', lake);
    const { workspace } = owned;
    const { id } = call.path;
    const body = call.json as Static<typeof CREATE_DATASET>;
    checkShares(body.dataset.access, owned, services);
    const existing = lake.directory.dataset(workspace, id ?? body.dataset.datasetId ?? '');
    const placeholder = existing !== undefined && isPlaceholder(existing) ? existing : undefined;
    if (id !== undefined && existing !== undefined && placeholder === undefined) {
      return applyBody(call, body.dataset, services);
    }
    const draft = buildDraft(workspace, call.path['id'], body, services.ingestion.defaultsOf);
    if (placeholder === undefined) checkDatasetRoom(caller, owned, draft.dataset, services);
    await checkPatterns(draft.expectations, services.ingestion.pool);
    if (placeholder !== undefined) {
      const { access, weight } = body.dataset;
      const inherited = {
        ...(access === undefined ? { access: placeholder.access } : {}),
        ...(weight === undefined ? { weight: placeholder.weight } : {}),
      };
      const fullDraft = { ...draft, ...inherited };
      await replacePlaceholder(placeholder, async () => fullDraft, caller.accountId, services);
      return changedAnswer('created', placeholder.dataset);
    }
    const { dataset } = await makeDataset(lake, draft, caller.accountId);
    return changedAnswer('created', dataset);
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
    const { caller } = call;
    const { workspace } = findManagedWorkspace(caller, call.path['workspace'] ?? '', services.lake);
    const limit = numberOf(call.query, 'limit') ?? LIST_MAX;
    const datasets = directory.datasets(workspace).slice(0, limit);
    const views = services.queries.views(workspace).slice(0, limit - datasets.length);
    const items = await Promise.all(datasets.map((dataset) => datasetView(dataset, services)));
    const value = [...items, ...views.map(viewAsDataset)];
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
    const view = isDataset ? undefined : findOwnView(call, services);
    const value = view ?? (await datasetView(ownDataset(call, services.lake), services));
    return { kind: 'json', value, metering: 'free' };
  },
};

export const changeDataset: Endpoint = {
  ...ROW,
  id: 'changeDataset',
  method: 'PATCH',
  path: '/datasets/:workspace/:id',
  summary: "Changes a dataset's description, contract, expectations or schema.",
  parameters: [WAIT],
  body: { kind: 'json', schema: CHANGE_DATASET, bytesMax: DATASET_BYTES_MAX },
  answer: Type.Union([CHANGED, JOB_CREATED]),
  handle: (call, services) => {
    const { dataset: wrapped, ...bare } = call.json as Static<typeof CHANGE_DATASET>;
    return applyBody(call, wrapped ?? bare, services);
  },
};

type Changes = Omit<Static<typeof CHANGE_DATASET>, 'dataset'>;

/** Handles `PATCH`, and `POST` with the id of an existing dataset, which iexjs sends to update. */
async function applyBody(call: Call, body: Changes, services: DatasetsServices): Promise<Answer> {
  const { lake, pending, runner } = services;
  const { workspace, dataset: name } = ownDataset(call, lake);
  const { accountId } = call.caller;
  checkShares(body.access, { accountId, workspace }, services);
  if (body.existing !== undefined && body.schema === undefined) {
    throw new Failure('InvalidBody', 'existing needs schema');
  }
  const owned = ownDataset(call, lake);
  if (isPlaceholder(owned) && describesRecords(body)) {
    await replacePlaceholder(owned, (old) => toDraft(old, body, services), accountId, services);
    return changedAnswer('updated', name);
  }
  if (body.existing === 're-ingest') return reingest(call, body, services);
  await runner.inTurn(workspace, name, async () => {
    const { tableId } = ownDataset(call, lake);
    const isIndexed = body.columnMapping !== undefined || body.uniqueIndex !== undefined;
    if (body.schema === undefined && !isIndexed) return changeInTurn(call, body, services);
    // Records pushed meanwhile wait: they were checked with the previous schema.
    await pending.withoutPushes(tableId, async () => {
      await flushDataset(ownDataset(call, lake), services);
      await changeInTurn(call, body, services);
    });
  });
  return changedAnswer('updated', name);
}

/** Members independent of records: a change of any other member replaces a placeholder dataset. */
const RECORD_INDEPENDENT: readonly string[] = ['title', 'weight', 'access', 'smartLinkAttributes'];

const describesRecords = (body: Changes): boolean =>
  Object.entries(body).some(
    ([member, value]) => value !== undefined && !RECORD_INDEPENDENT.includes(member),
  );

/** Replaces a placeholder and its invented records by the owner's empty dataset. */
async function replacePlaceholder(
  { dataset, tableId, workspace }: Dataset,
  draftFor: (placeholder: Dataset) => Promise<DatasetDraft>,
  accountId: string,
  { lake, runner }: Pick<Services, 'lake' | 'runner'>,
): Promise<void> {
  await runner.inTurn(workspace, dataset, async () => {
    const placeholder = lake.directory.datasetById(tableId);
    if (placeholder === undefined || !isPlaceholder(placeholder)) {
      throw new Failure('Conflict', `dataset ${dataset} was changed meanwhile: try again`);
    }
    const draft = await draftFor(placeholder);
    await replaceDataset(lake, placeholder, { ...draft, dataset: placeholder.dataset }, accountId);
  });
}

/** Applies a change to a placeholder, without its description of the invented records. */
async function toDraft(
  placeholder: Dataset,
  body: Changes,
  services: DatasetsServices,
): Promise<DatasetDraft> {
  const { description, historyDays, source } = DATASET_DEFAULTS;
  const previous = { ...placeholder, description, historyDays, source };
  const { changes } = await planChanges(previous, body, services);
  const { schema } = changes;
  const { inferred, mapping, numbered } =
    planIndexEdit(body, { ...previous, schema }) ?? placeholder;
  const index = { inferred, mapping, numbered };
  return {
    ...previous,
    ...changes,
    ...index,
    schema: { ...schema, required: listRequired(index) },
  };
}

/** Submits a job that reads everything again with the changed schema. */
async function reingest(call: Call, body: Changes, services: DatasetsServices): Promise<Answer> {
  const { database, ingestion, lake, runner } = services;
  const { accountId } = call.caller;
  const { workspace, dataset: name } = ownDataset(call, lake);
  const parts = { database, services: ingestion };
  const order: FetchOrder = await runner.inTurn(workspace, name, async () => {
    const dataset = ownDataset(call, lake);
    const { changes } = await planChanges(dataset, body, services);
    return planReingest(dataset, changes, accountId, parts);
  });
  const jobId = await runner.submit(order);
  return answerJobCreated(`Re-ingestion of ${name}`, workspace, jobId, call, services);
}

async function changeInTurn(call: Call, body: Changes, services: DatasetsServices): Promise<void> {
  const { clock, ingestion, lake } = services;
  const { accountId } = call.caller;
  const dataset = ownDataset(call, lake);
  const { changes, edit } = await planChanges(dataset, body, services);
  const index = planIndexEdit(body, dataset);
  if (index !== undefined) return changeIndex(call, dataset, index, body, services);
  const existing = (body.existing ?? 'leave') as Existing;
  const discardsValues = changes.contract.types === 'discard_value';
  await editSchema(dataset, { ...edit, existing, discardsValues }, ingestion, (edits) =>
    storeChanges(lake, dataset, changes, edits, accountId, clock()),
  );
}

/** @throws Failure InvalidBody together with a schema change: each rewrites all records differently. */
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
  const { accountId } = call.caller;
  const { changes } = await planChanges({ ...dataset, mapping }, body, services);
  const schema = { ...changes.schema, required: listRequired(index) };
  const newValues = { ...changes, schema };
  const commit = (edits: Parameters<typeof storeChanges>[3]): Promise<void> =>
    storeChanges(lake, dataset, newValues, edits, accountId, clock(), (transaction) =>
      updateIndex(transaction, dataset, index),
    );
  // Declaring the inferred unique index unchanged rewrites no records.
  await (isConfirmation(dataset, index)
    ? commit([])
    : editIndex(dataset, index, ingestion, commit));
}

/** Plans the changes of a body. @throws Failure InvalidBody naming the member and its rule. */
async function planChanges(
  dataset: Dataset,
  body: Changes,
  { ingestion }: Pick<Services, 'ingestion'>,
): Promise<{
  readonly changes: DatasetChanges;
  readonly edit: Omit<ReturnType<typeof planPropertyEdit>, 'schema'>;
}> {
  const { mapping } = dataset;
  const propertyChanges = (body.schema?.properties ?? {}) as Parameters<typeof planPropertyEdit>[1];
  const { schema, ...edit } = planPropertyEdit(dataset, propertyChanges);
  const { properties } = schema;
  const changes = { ...mergeDescription(body, dataset), schema };
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
    await runner.inTurn(workspace, name, () => dropOwnDataset(call, services));
    if (truthOf(call.query, 'purge')) await scrubOrLater(services.scrub);
    return changedAnswer('deleted', name);
  },
};

async function dropOwnDataset(
  call: Call,
  { lake, pending }: Pick<Services, 'lake' | 'pending'>,
): Promise<void> {
  const dataset = ownDataset(call, lake);
  const { tableId } = dataset;
  const isPurge = truthOf(call.query, 'purge');
  const { accountId } = call.caller;
  const files = await dropDataset(lake, dataset, accountId, isPurge, async (transaction) => {
    await pending.drop(transaction, tableId);
    await removeQuarantined(transaction, tableId, {});
    if (!isPurge) return;
    await purgeTexts(transaction, dataset);
    await requestScrub(transaction);
  });
  pending.removeTable(tableId);
  await lake.files.remove(files);
}

export const renameDataset: Endpoint = {
  ...ROW,
  id: 'renameDataset',
  method: 'PUT',
  path: '/datasets/:workspace/:id/:newId',
  summary: 'Renames a dataset; its history stays readable under the new name.',
  answer: CHANGED,
  handle: async (call, { lake, queries, runner }) => {
    const { accountId } = call.caller;
    const { newId = '' } = call.path;
    const { workspace, dataset: name } = ownDataset(call, lake);
    queries.refuseExistingView(workspace, newId);
    await runner.inTurn(workspace, name, () =>
      storeName(lake, ownDataset(call, lake), newId, accountId),
    );
    return changedAnswer('renamed', newId);
  },
};
