// The reading doors at a node that does not serve. It answers what it knows for sure: what is stored now, of
// datasets that it is told of, in records. All else, and whatever is refused, is the serving node's.
import { delayOf, datasetOf, callerOf, seriesDataset } from '../../auth/access.ts';
import type { AdmissionServices } from '../../auth/admission.ts';
import { answerBatch } from '../../read/batch.ts';
import { pictureOf } from '../../read/pictures.ts';
import { answerSeries, type SeriesServices } from '../../read/series.ts';
import { separated } from '../../read/seriesParameters.ts';
import type { SqlServices } from '../../sql/sql.ts';
import { isLinkedCall } from '../../market/reference/smartLinks.ts';
import type { Caller } from '../../../store/accounts/callers.ts';
import type { Call, Endpoint } from '../../request/endpoint.ts';
import type { Dataset } from '../../../store/lake/datasets/datasets.ts';
import { SYSTEM_WORKSPACE } from '../../../store/lake/systemTables.ts';
import { queryData, timeSeries } from '../read/read.ts';

/** What a node answers reads with. */
export interface HereServices
  extends
    SeriesServices,
    Omit<SqlServices, keyof SeriesServices>,
    Omit<AdmissionServices, keyof SeriesServices> {
  /** Whether what it knows of a table is what is stored, at this moment of the event loop. */
  readonly isLiveFor: (tableId: number) => boolean;
  /** The same of all that is no record: names, rights, views. */
  readonly isLive: () => boolean;
  /** Something is being changed, and known soon. */
  readonly isChanging: () => boolean;
  /** @throws Failure where there is no permit here: that may be too fast or not */
  readonly admit: (caller: Caller, address: string) => void;
}

/** It is for the node that serves to answer. */
export class Elsewhere extends Error {}

/** What it asks for is being changed: a moment later this node knows. */
export class Changing extends Elsewhere {}

/** They go on from an answer before, or ask for the past: that is known at one node. */
const OF_ONE_NODE = ['queryId', 'asOf'];

export const SERIES_HERE: readonly Endpoint<HereServices>[] = [
  {
    ...queryData,
    handle: async (call, services) => {
      checkCall(call);
      const { workspace = '', id = '' } = call.path;
      const ids = separated(id, call.query);
      const datasets = ids.map((name) =>
        datasetOf(callerOf(call.caller), workspace, name, services.lake),
      );
      await checkDatasets(call, services, datasets);
      const [dataset, ...others] = datasets;
      if (dataset === undefined) throw new Elsewhere();
      if (others.length > 0) return answerBatch(call, services, workspace, ids);
      return answerSeries(call, services, dataset, 'data');
    },
  },
  {
    ...timeSeries,
    handle: async (call, services) => {
      checkCall(call);
      const { id = '' } = call.path;
      const dataset = seriesDataset(callerOf(call.caller), id, services.lake);
      await checkDatasets(call, services, [dataset]);
      return answerSeries(call, services, dataset, 'time-series');
    },
  },
];

/** @throws Elsewhere */
function checkCall(call: Call): void {
  const isOfOneNode = OF_ONE_NODE.some((name) => call.query[name] !== undefined);
  if (isOfOneNode || pictureOf(call.query) !== undefined) throw new Elsewhere();
}

/**
 * Whoever goes on at once, without a turn of the event loop between, reads what is stored.
 * @throws Elsewhere
 */
async function checkDatasets(
  call: Call,
  services: HereServices,
  datasets: readonly Dataset[],
): Promise<void> {
  const caller = callerOf(call.caller);
  const { isLiveFor, lake } = services;
  for (const dataset of datasets) {
    // What is seen later by one clock may be seen earlier by another.
    const isOfClock = delayOf(caller, dataset, lake) > 0;
    const isOfNobody = dataset.workspace === SYSTEM_WORKSPACE;
    if (isOfClock || isOfNobody || isLinkedCall(call, dataset)) throw new Elsewhere();
    if (!isLiveFor(dataset.tableId)) throw notNow(services);
  }
  await Promise.all(datasets.map(({ tableId }) => lake.table(tableId)));
  if (!datasets.every(({ tableId }) => isLiveFor(tableId))) throw notNow(services);
  services.admit(caller, call.address);
}

export const notNow = ({ isChanging }: Pick<HereServices, 'isChanging'>): Elsewhere =>
  isChanging() ? new Changing() : new Elsewhere();
