// Lists readable data: dataset schemas of all workspaces or one, metadata down to a key, time series.
import { Type } from '../../../reads/request/schema.ts';
import { runSeries } from '../../../query/series/series.ts';
import { isoTime } from '../../../store/base/clock.ts';
import { Failure } from '../../../store/base/failure.ts';
import { CORE, type Dataset, type RecordSchema } from '../../../store/lake/datasets/datasets.ts';
import type { Lake } from '../../../store/lake/lake.ts';
import {
  findDataset,
  requireManager,
  ownWorkspaces,
  readableDatasets,
  findManagedWorkspace,
} from '../../../reads/rights/access.ts';
import { queryView, datasetView, keyView, schemaView } from '../../datasets/datasetView.ts';
import { readDataset } from '../../../reads/series/series.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import { toFreeAnswer } from '../../request/rows.ts';
import { numberOf, truthOf } from '../../../reads/request/parameters.ts';

const ANY = Type.Object({}, { additionalProperties: true });
const LIST_MAX = 5_000;

export const listData: Endpoint = {
  id: 'listData',
  method: 'GET',
  path: '/data/:workspace?',
  aliases: ['/query/:workspace?'],
  token: 'publishable',
  inTest: true,
  summary: 'The schemas of the datasets of one workspace, or of all that the token may read.',
  weight: 'free',
  parameters: [],
  answer: Type.Array(ANY),
  failures: 'data',
  handle: async (call, { lake }) => {
    const datasets = readableDatasets(call.caller, lake, call.path['workspace']);
    const view = call.environment === 'test' ? queryView : schemaView;
    return { kind: 'json', value: datasets.map(view), metering: 'free' };
  },
};

export const getMeta: Endpoint = {
  id: 'getMeta',
  method: 'GET',
  path: '/meta/:workspace?/:id?/:key?/:subkey?',
  token: 'secret',
  summary:
    'Metadata of workspaces, of the datasets of one (`*`: all), of a dataset, or of one of its keys.',
  weight: 'free',
  parameters: [
    { kind: 'boolean', name: 'schema', help: 'With the schema of each dataset.' },
    { kind: 'boolean', name: 'force', help: 'Accepted; metadata are always fresh.' },
    { kind: 'integer', name: 'limit', least: 1, most: LIST_MAX, help: 'At most n entries.' },
    { kind: 'integer', name: 'offset', least: 0, most: LIST_MAX, help: 'Skip the first n.' },
  ],
  answer: Type.Union([Type.Array(ANY), ANY]),
  failures: 'workspace',
  handle: async (call, services) => {
    const { lake } = services;
    const { caller } = call;
    const { workspace, id } = call.path;
    const offset = numberOf(call.query, 'offset') ?? 0;
    const end = offset + (numberOf(call.query, 'limit') ?? LIST_MAX);
    const view = async (name: string, dataset: string): Promise<object> => {
      const fullView = await datasetView(findDataset(caller, name, dataset, lake), services);
      if (truthOf(call.query, 'schema')) return fullView;
      return Object.fromEntries(Object.entries(fullView).filter(([member]) => member !== 'schema'));
    };
    if (workspace === undefined) {
      requireManager(caller);
      const value = lake.directory.workspaces(caller.accountId).map((item) => ({
        workspace: item.workspace,
        datasets: lake.directory.datasets(item.workspace).length,
      }));
      return { kind: 'json', value: value.slice(offset, end), metering: 'free' };
    }
    const owned = findManagedWorkspace(caller, workspace, lake).workspace;
    const { key, subkey } = call.path;
    if (id !== undefined && id !== '*' && key !== undefined) {
      const dataset = findDataset(caller, owned, id, lake);
      return {
        kind: 'json',
        value: await keyView(dataset, key, subkey, services),
        metering: 'free',
      };
    }
    if (id !== undefined && id !== '*') {
      return { kind: 'json', value: await view(owned, id), metering: 'free' };
    }
    const listed = lake.directory.datasets(owned).slice(offset, end);
    await lake.preloadTables(listed.map(({ tableId }) => tableId));
    const value = await Promise.all(listed.map(({ dataset }) => view(owned, dataset)));
    return { kind: 'json', value, metering: 'free' };
  },
};

/** The original's index calls (2022): every attribute can be queried here, so they only inform. */
export const getIndex: Endpoint = {
  id: 'getIndex',
  method: 'GET',
  path: '/index/:workspace/:id/:attribute',
  token: 'secret',
  inTest: true,
  summary: 'Whether an attribute is part of the unique index; every attribute can be queried.',
  weight: 'free',
  parameters: [],
  answer: Type.Object({
    success: Type.Literal(true),
    attribute: Type.String(),
    indexed: Type.Boolean(),
    message: Type.String(),
  }),
  failures: 'workspace',
  handle: async (call, { lake }) => {
    const { workspace = '', id = '', attribute = '' } = call.path;
    const dataset = findDataset(call.caller, workspace, id, lake);
    if (!Object.hasOwn(dataset.schema.properties, attribute)) {
      throw new Failure('InvalidBody', `attribute ${attribute} is not a property of ${id}`);
    }
    const indexed = Object.values(dataset.mapping).includes(attribute);
    const message = indexed
      ? 'the attribute is part of the unique index'
      : 'the attribute is found by a scan; no index is needed';
    return {
      kind: 'json',
      value: { success: true, attribute, indexed, message },
      metering: 'free',
    };
  },
};

export const createIndex: Endpoint = { ...getIndex, id: 'createIndex', method: 'POST' };
export const deleteIndex: Endpoint = { ...getIndex, id: 'deleteIndex', method: 'DELETE' };

export const timeSeriesInventory: Endpoint = {
  id: 'listTimeSeries',
  method: 'GET',
  path: '/time-series',
  token: 'publishable',
  inTest: true,
  summary: "The datasets that the caller's token may read, with their schema and weight.",
  weight: 'free',
  parameters: [],
  answer: Type.Array(
    Type.Object({
      id: Type.String(),
      description: Type.String(),
      key: Type.Optional(Type.String()),
      subkey: Type.Optional(Type.String()),
      schema: Type.Object({}, { additionalProperties: true }),
      weightKey: Type.String(),
      weight: Type.Integer(),
      created: Type.String(),
      lastUpdated: Type.String(),
    }),
  ),
  failures: 'data',
  handle: async (call, { lake }) => toFreeAnswer(listEntries(call, lake, () => true)),
};

const ALL = '*';
/** Datasets that one call searches for a key. */
const SEARCHED_MAX = 200;

/** A part of the inventory, as clients of the original request it. */
export const timeSeriesMetadata: Endpoint = {
  ...timeSeriesInventory,
  id: 'getTimeSeriesMetadata',
  path: '/metadata/time-series/:id?/:key?/:subkey?',
  summary:
    'The inventory of time series: all, one (`*`: any), or those that have records of a key and subkey.',
  handle: async (call, services) => {
    const { id = ALL, key } = call.path;
    const isSelected = (dataset: Dataset): boolean => id === ALL || isNamed(dataset, id);
    if (key === undefined) return toFreeAnswer(listEntries(call, services.lake, isSelected));
    const matching = new Set<Dataset>();
    const candidates = readableDatasets(call.caller, services.lake).filter(isSelected);
    if (candidates.length > SEARCHED_MAX) {
      throw new Failure(
        'InvalidParameter',
        `there are more than ${SEARCHED_MAX} time series: name the one to look into`,
      );
    }
    for (const dataset of candidates) {
      if (await hasRecords(dataset, call, services)) matching.add(dataset);
    }
    return toFreeAnswer(listEntries(call, services.lake, (dataset) => matching.has(dataset)));
  },
};

function isNamed({ dataset, workspace }: Dataset, id: string): boolean {
  const name = id.toUpperCase();
  return name === dataset.toUpperCase() || name === `${workspace}.${dataset}`.toUpperCase();
}

/** Whether a dataset has a record of the call's key, and of its subkey. */
async function hasRecords(dataset: Dataset, call: Call, services: Services): Promise<boolean> {
  const { key, subkey } = call.path;
  const { mapping } = dataset;
  if (mapping.key === undefined || (subkey !== undefined && mapping.subkey === undefined))
    return false;
  const bareCall = { ...call, path: {}, query: {} };
  const keyRange = { key, subkey, last: 1 };
  const { plan, remembered } = await readDataset(bareCall, services, dataset, 'data', {
    own: keyRange,
  });
  return (await runSeries(plan, 'json', services.series, call, remembered)).objects > 0;
}

/** Inventory entries of the selected datasets that the caller may read. */
function listEntries(
  call: Call,
  lake: Lake,
  isWanted: (dataset: Dataset) => boolean,
): readonly object[] {
  const { caller } = call;
  const first = ownWorkspaces(caller, lake)[0]?.workspace;
  const bareWorkspaces = new Set([CORE, first]);
  return readableDatasets(caller, lake)
    .filter(isWanted)
    .map((dataset) =>
      toEntry(dataset, bareWorkspaces.has(dataset.workspace), call.environment === 'test'),
    );
}

/**
 * Ids of other workspaces than CORE and the default one have the workspace as a prefix.
 * @param isTest the test environment declares null where a property is not required (INTERFACE.md 1)
 */
function toEntry(dataset: Dataset, isBare: boolean, isTest: boolean): object {
  const { mapping, schema } = dataset;
  const usageKey = `${dataset.workspace}.${dataset.dataset}`;
  return {
    id: isBare ? dataset.dataset : usageKey,
    description: dataset.description,
    ...(mapping.key === undefined ? {} : { key: mapping.key }),
    ...(mapping.subkey === undefined ? {} : { subkey: mapping.subkey }),
    schema: {
      ...schema,
      ...(isTest ? { properties: withNull(schema) } : {}),
      additionalProperties: false,
    },
    weightKey: usageKey,
    weight: dataset.weight,
    created: isoTime(dataset.createdMs).slice(0, 19).replace('T', ' '),
    lastUpdated: isoTime(dataset.updatedMs),
  };
}

const withNull = ({ properties, required }: RecordSchema): object =>
  Object.fromEntries(
    Object.entries(properties).map(([name, type]) => [
      name,
      required.includes(name) ? type : { anyOf: [type, { type: 'null' }] },
    ]),
  );
