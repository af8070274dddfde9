// What there is to read: dataset schemas over all workspaces or one, metadata down to a key, time series.
import { Type } from '../../request/body/schema.ts';
import { runSeries } from '../../../query/series/series.ts';
import { isoTime } from '../../../store/base/clock.ts';
import { Failure } from '../../../store/base/failure.ts';
import { CORE, type Dataset } from '../../../store/lake/datasets/datasets.ts';
import type { Lake } from '../../../store/lake/lake.ts';
import {
  callerOf,
  datasetOf,
  managerOf,
  ownWorkspaces,
  readableDatasets,
  workspaceOf,
} from '../../auth/access.ts';
import { askingView, datasetView, keyView, schemaView } from '../../datasets/datasetView.ts';
import { readDataset } from '../../read/series.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import { freely } from '../../request/rows.ts';
import { numberOf, truthOf } from '../../request/parameters.ts';

const ANY = Type.Object({}, { additionalProperties: true });
const LIST_MAX = 5_000;

export const listData: Endpoint = {
  id: 'listData',
  method: 'GET',
  path: '/data/:workspace?',
  aliases: ['/query/:workspace?'],
  token: 'publishable',
  inTest: true,
  summary: 'The schemas of the datasets of one workspace, or of all that the token reaches.',
  weight: 'free',
  parameters: [],
  answer: Type.Array(ANY),
  failures: 'data',
  handle: async (call, { lake }) => {
    const datasets = readableDatasets(callerOf(call.caller), lake, call.path['workspace']);
    const view = call.environment === 'test' ? askingView : schemaView;
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
    const caller = callerOf(call.caller);
    const { workspace, id } = call.path;
    const offset = numberOf(call.query, 'offset') ?? 0;
    const end = offset + (numberOf(call.query, 'limit') ?? LIST_MAX);
    const view = async (name: string, dataset: string): Promise<object> => {
      const whole = await datasetView(datasetOf(caller, name, dataset, lake), services);
      if (truthOf(call.query, 'schema')) return whole;
      return Object.fromEntries(Object.entries(whole).filter(([member]) => member !== 'schema'));
    };
    if (workspace === undefined) {
      managerOf(caller);
      const value = lake.directory.workspaces(caller.accountId).map((item) => ({
        workspace: item.workspace,
        datasets: lake.directory.datasets(item.workspace).length,
      }));
      return { kind: 'json', value: value.slice(offset, end), metering: 'free' };
    }
    const owned = workspaceOf(caller, workspace, lake).workspace;
    const { key, subkey } = call.path;
    if (id !== undefined && id !== '*' && key !== undefined) {
      const dataset = datasetOf(caller, owned, id, lake);
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
    await lake.expectTables(listed.map(({ tableId }) => tableId));
    const value = await Promise.all(listed.map(({ dataset }) => view(owned, dataset)));
    return { kind: 'json', value, metering: 'free' };
  },
};

/** The original's index calls (2022): here every attribute can be asked, so they only inform. */
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
    const dataset = datasetOf(callerOf(call.caller), workspace, id, lake);
    if (!Object.hasOwn(dataset.schema.properties, attribute)) {
      throw new Failure('InvalidBody', `attribute ${attribute} is not a property of ${id}`);
    }
    const indexed = Object.values(dataset.mapping).includes(attribute);
    const message = indexed
      ? 'the attribute is part of the unique index'
      : 'the attribute is found by a scan; no index needs to be made';
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
  summary: "The datasets that the caller's token reaches, with their schema and weight.",
  weight: 'free',
  parameters: [],
  answer: Type.Array(
    Type.Object({
      id: Type.String(),
      description: Type.String(),
      key: Type.Optional(Type.String()),
      subkey: Type.Optional(Type.String()),
      schema: Type.Object({}, { additionalProperties: true }),
      weight: Type.Integer(),
      created: Type.String(),
      lastUpdated: Type.String(),
    }),
  ),
  failures: 'data',
  handle: async (call, { lake }) => freely(entries(call, lake, () => true)),
};

const ALL = '*';
/** Datasets that one call looks for a key in. */
const SEARCHED_MOST = 200;

/** As clients of the original ask for a part of the inventory. */
export const timeSeriesMetadata: Endpoint = {
  ...timeSeriesInventory,
  id: 'getTimeSeriesMetadata',
  path: '/metadata/time-series/:id?/:key?/:subkey?',
  summary:
    'The inventory of time series: all, one (`*`: any), or those that have records of a key and subkey.',
  handle: async (call, services) => {
    const { id = ALL, key } = call.path;
    const named = (dataset: Dataset): boolean => id === ALL || isNamed(dataset, id);
    if (key === undefined) return freely(entries(call, services.lake, named));
    const having = new Set<Dataset>();
    const some = readableDatasets(callerOf(call.caller), services.lake).filter(named);
    if (some.length > SEARCHED_MOST) {
      throw new Failure(
        'InvalidParameter',
        `there are more than ${SEARCHED_MOST} time series: name the one to look into`,
      );
    }
    for (const dataset of some) {
      if (await hasRecords(dataset, call, services)) having.add(dataset);
    }
    return freely(entries(call, services.lake, (dataset) => having.has(dataset)));
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
  const bare = { ...call, path: {}, query: {} };
  const own = { key, subkey, last: 1 };
  const { plan, remembered } = await readDataset(bare, services, dataset, 'data', { own });
  return (await runSeries(plan, 'json', services.series, call, remembered)).objects > 0;
}

/** Of the datasets that the caller reads. */
function entries(
  call: Call,
  lake: Lake,
  isWanted: (dataset: Dataset) => boolean,
): readonly object[] {
  const caller = callerOf(call.caller);
  const first = ownWorkspaces(caller, lake)[0]?.workspace;
  const bare = new Set([CORE, first]);
  return readableDatasets(caller, lake)
    .filter(isWanted)
    .map((dataset) => entryOf(dataset, bare.has(dataset.workspace)));
}

/** Ids of CORE and of the default workspace stand alone; those of another one say which. */
function entryOf(dataset: Dataset, bare: boolean): object {
  const { mapping, schema } = dataset;
  return {
    id: bare ? dataset.dataset : `${dataset.workspace}.${dataset.dataset}`,
    description: dataset.description,
    ...(mapping.key === undefined ? {} : { key: mapping.key }),
    ...(mapping.subkey === undefined ? {} : { subkey: mapping.subkey }),
    schema: { ...schema, additionalProperties: false },
    weight: dataset.weight,
    created: isoTime(dataset.createdMs).slice(0, 19).replace('T', ' '),
    lastUpdated: isoTime(dataset.updatedMs),
  };
}
