// The two reading doors: a workspace's data, and the time series of SPEC.md.
import { Type } from '../../request/body/schema.ts';
import { inputOf } from '../../../market/inputs/inputs.ts';
import type { SeriesShape } from '../../../query/plan/seriesMembers.ts';
import type { Lake } from '../../../store/lake/lake.ts';
import { CORE, type Dataset } from '../../../store/lake/datasets/datasets.ts';
import { Failure } from '../../../store/base/failure.ts';
import { callerOf, datasetOf, seriesDataset } from '../../auth/access.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import { answerSeries, type OtherDoor } from '../../read/series.ts';
import { drawn, pictureOf, seriesShown } from '../../read/pictures.ts';
import { linkedCall } from '../../market/reference/smartLinks.ts';
import { answerBatch } from '../../read/batch.ts';
import { DRAWN_PARAMETERS, separated } from '../../read/seriesParameters.ts';
import { refusePending } from '../../stock/marketFilling.ts';
import { answerView, seriesView, viewNamed } from '../../sql/views.ts';

const RECORDS = Type.Array(Type.Object({}, { additionalProperties: true }));

/** What both doors have in common: only the shape of their records differs. */
const ROW = {
  method: 'GET',
  token: 'publishable',
  weight: 'the weight of the dataset for each record',
  parameters: DRAWN_PARAMETERS,
  answer: RECORDS,
  formats: ['jsonl', 'csv', 'psv', 'arrow', 'parquet', 'svg', 'png', 'vega-lite'],
  failures: 'data',
} as const satisfies Partial<Endpoint>;

export const queryData: Endpoint = {
  ...ROW,
  id: 'queryData',
  path: '/data/:workspace/:id/:key?/:subkey?',
  // As clients of 2021 ask (INTERFACE.md 3.2).
  aliases: ['/query/:workspace/:id/:key?/:subkey?'],
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
      const linked = await linkedCall(call, services, dataset);
      return answerSeries(
        linked,
        services,
        dataset,
        'data',
        drawing(call, services, dataset, 'data'),
      );
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
      const door = drawing(call, services, dataset, 'time-series');
      return answerSeries(linked, services, dataset, 'time-series', door);
    }
    const view = seriesView(call, id, services);
    if (view !== undefined) return answerView(call, services, view, 'time-series');
    if (pictureOf(call.query) !== undefined) throw new Failure('NotFound');
    refusePending([[coreId(id)]], services);
    // The original knew every input: of one that nobody loaded there is nothing (INTERFACE.md 0.2).
    if (!isUnloaded(id, services.lake)) throw new Failure('NotFound');
    return { kind: 'json', value: [], metering: 'free' };
  },
};

/** What makes a picture of the records; undefined where none is asked for. */
function drawing(
  call: Call,
  services: Services,
  { dataset, mapping }: Dataset,
  shape: SeriesShape,
): OtherDoor | undefined {
  const picture = pictureOf(call.query);
  if (picture === undefined) return undefined;
  const shown = { picture, ...seriesShown(call, dataset, mapping, shape) };
  return { picture, dress: (body) => drawn(call, services, body, shown) };
}

const coreId = (id: string): string => {
  const name = id.toUpperCase();
  return name.startsWith(`${CORE}.`) ? name.slice(CORE.length + 1) : name;
};

/** Whether it names an input of the market that is not there; one that the caller may not see is. */
function isUnloaded(id: string, { directory }: Lake): boolean {
  const inCore = coreId(id);
  return inputOf(inCore) !== undefined && directory.dataset(CORE, inCore) === undefined;
}

/** Undefined when there is none of that name, but perhaps a view. */
function foundOr(find: () => Dataset): Dataset | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof Failure && error.type === 'NotFound') return undefined;
    throw error;
  }
}
