// The two reading doors: a workspace's data, and the time series of SPEC.md.
import { Type } from 'typebox';
import { isoTime } from '../../../store/base/clock.ts';
import { CORE, type Dataset } from '../../../store/datasets/datasets.ts';
import { Failure } from '../../../store/base/failure.ts';
import {
  callerOf,
  datasetOf,
  ownWorkspaces,
  readableDatasets,
  seriesDataset,
} from '../../auth/access.ts';
import type { Endpoint } from '../../request/endpoint.ts';
import { filteredJson, JSON_PARAMETERS } from '../../request/filtered.ts';
import { answerSeries } from '../../read/series.ts';
import { linkedCall } from '../../reference/smartLinks.ts';
import { answerBatch } from '../../read/batch.ts';
import { separated, SERIES_PARAMETERS } from '../../read/seriesParameters.ts';
import { answerView, seriesView, viewNamed } from '../../sql/views.ts';

const RECORDS = Type.Array(Type.Object({}, { additionalProperties: true }));

/** What both doors have in common: only the shape of their records differs. */
const ROW = {
  method: 'GET',
  token: 'publishable',
  weight: 'the weight of the dataset for each record',
  parameters: SERIES_PARAMETERS,
  answer: RECORDS,
  formats: ['jsonl', 'csv', 'psv', 'arrow', 'parquet'],
  failures: 'data',
} as const satisfies Partial<Endpoint>;

export const queryData: Endpoint = {
  ...ROW,
  id: 'queryData',
  path: '/data/:workspace/:id/:key?/:subkey?',
  inTest: true,
  summary: "Records of a dataset with the owner's own properties, newest first.",
  handle: async (call, services) => {
    const { workspace = '', id = '' } = call.path;
    const ids = separated(id, call.query);
    if (ids.length > 1) return answerBatch(call, services, workspace, ids);
    const [name = ''] = ids;
    const caller = callerOf(call.caller);
    const dataset = foundOr(() => datasetOf(caller, workspace, name, services.lake));
    if (dataset !== undefined) {
      return answerSeries(await linkedCall(call, services, dataset), services, dataset, 'data');
    }
    const view = viewNamed(call, workspace, name, services);
    if (view === undefined) throw new Failure('NotFound');
    return answerView(call, services, view, 'data');
  },
};

export const timeSeries: Endpoint = {
  ...ROW,
  id: 'getTimeSeries',
  path: '/time-series/:id/:key?/:subkey?',
  inTest: true,
  summary: 'Records of a time series with id, key, subkey, date and updated, newest first.',
  handle: async (call, services) => {
    const { id = '' } = call.path;
    const caller = callerOf(call.caller);
    const dataset = foundOr(() => seriesDataset(caller, id, services.lake));
    if (dataset !== undefined) {
      const linked = await linkedCall(call, services, dataset);
      return answerSeries(linked, services, dataset, 'time-series');
    }
    const view = seriesView(call, id, services);
    if (view === undefined) throw new Failure('NotFound');
    return answerView(call, services, view, 'time-series');
  },
};

/** Undefined when there is none of that name, but perhaps a view. */
function foundOr(find: () => Dataset): Dataset | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof Failure && error.type === 'NotFound') return undefined;
    throw error;
  }
}

export const timeSeriesInventory: Endpoint = {
  id: 'listTimeSeries',
  method: 'GET',
  path: '/time-series',
  token: 'publishable',
  inTest: true,
  summary: "The datasets that the caller's token reaches, with their schema and weight.",
  weight: 'free',
  parameters: JSON_PARAMETERS,
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
  handle: async (call, { lake }) => {
    const caller = callerOf(call.caller);
    const first = ownWorkspaces(caller, lake)[0]?.workspace;
    const bare = new Set([CORE, first]);
    const value = readableDatasets(caller, lake).map((dataset) =>
      entryOf(dataset, bare.has(dataset.workspace)),
    );
    return filteredJson(call, value);
  },
};

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
