// The two read endpoints: a workspace's data, and the time series of SPEC.md.
import { Type } from '../../../reads/request/schema.ts';
import { inputOf } from '../../../market/inputs/inputs.ts';
import type { SeriesShape } from '../../../query/plan/seriesMembers.ts';
import type { Lake } from '../../../store/lake/lake.ts';
import { CORE, type Dataset } from '../../../store/lake/datasets/datasets.ts';
import { Failure } from '../../../store/base/failure.ts';
import { findDataset, findSeriesDataset } from '../../../reads/rights/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import { answerSeries, type SeriesAdapter } from '../../../reads/series/series.ts';
import { renderChart, parseChartFormat, toSeriesChart } from '../../../reads/answer/charts.ts';
import { resolveLinkedKeys } from '../../../reads/market/reference/smartLinks.ts';
import { answerBatch } from '../../../reads/series/batch.ts';
import { CHARTED_SERIES_PARAMETERS, splitSegment } from '../../../reads/series/queryParameters.ts';
import { refusePending } from '../../request/marketFilling.ts';
import { answerView, findSeriesView, findView } from '../../../reads/sql/views.ts';

const RECORDS = Type.Array(Type.Object({}, { additionalProperties: true }));

/** Common members of both rows: only the shape of their records differs. */
const ROW = {
  method: 'GET',
  token: 'publishable',
  weight: 'the weight of the dataset for each record',
  parameters: CHARTED_SERIES_PARAMETERS,
  answer: RECORDS,
  formats: ['jsonl', 'csv', 'psv', 'arrow', 'parquet', 'svg', 'png', 'vega-lite'],
  failures: 'data',
} as const satisfies Partial<Endpoint>;

export const queryData: Endpoint = {
  ...ROW,
  id: 'queryData',
  path: '/data/:workspace/:id/:key?/:subkey?',
  // The path of clients of 2021 (INTERFACE.md 3.2).
  aliases: ['/query/:workspace/:id/:key?/:subkey?'],
  inTest: true,
  summary: "Records of a dataset with the owner's own properties, newest first.",
  handle: async (call, services) => {
    const { workspace = '', id = '' } = call.path;
    const ids = splitSegment(id, call.query);
    if (ids.length > 1) return answerBatch(call, services, workspace, ids);
    const [name = ''] = ids;
    const { caller } = call;
    const dataset = findOptional(() => findDataset(caller, workspace, name, services.lake));
    if (dataset !== undefined) {
      const linked = await resolveLinkedKeys(call, services, dataset);
      return answerSeries(
        linked,
        services,
        dataset,
        'data',
        chartOutput(call, services, dataset, 'data'),
      );
    }
    const view = findView(call, workspace, name, services);
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
    const { caller } = call;
    const dataset = findOptional(() => findSeriesDataset(caller, id, services.lake));
    if (dataset !== undefined) {
      const linked = await resolveLinkedKeys(call, services, dataset);
      const output = chartOutput(call, services, dataset, 'time-series');
      return answerSeries(linked, services, dataset, 'time-series', output);
    }
    const view = findSeriesView(call, id, services);
    if (view !== undefined) return answerView(call, services, view, 'time-series');
    if (parseChartFormat(call.query) !== undefined) throw new Failure('NotFound');
    refusePending([[coreId(id)]], services);
    // The original had every input: one that is not loaded here is empty (INTERFACE.md 0.2).
    if (!isUnloaded(id, services.lake)) throw new Failure('NotFound');
    return { kind: 'json', value: [], metering: 'free' };
  },
};

/** Renders the records as a chart; undefined if none is requested. */
function chartOutput(
  call: Call,
  services: Services,
  { dataset, mapping }: Dataset,
  shape: SeriesShape,
): SeriesAdapter | undefined {
  const picture = parseChartFormat(call.query);
  if (picture === undefined) return undefined;
  const chart = { picture, ...toSeriesChart(call, dataset, mapping, shape) };
  return { picture, render: (body) => renderChart(call, services, body, chart) };
}

const coreId = (id: string): string => {
  const name = id.toUpperCase();
  return name.startsWith(`${CORE}.`) ? name.slice(CORE.length + 1) : name;
};

/** Whether it names a market input that is not loaded; an inaccessible one counts as loaded. */
function isUnloaded(id: string, { directory }: Lake): boolean {
  const inCore = coreId(id);
  return inputOf(inCore) !== undefined && directory.dataset(CORE, inCore) === undefined;
}

/** Undefined without a dataset of that name, which may be a view. */
function findOptional(find: () => Dataset): Dataset | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof Failure && error.type === 'NotFound') return undefined;
    throw error;
  }
}
