// Read endpoints of a replica. It answers current records of datasets that it follows and is up to date with.
// All other requests, and all refusals, are left to the serving node.
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

/** Services of reads on a replica. */
export interface HereServices
  extends
    SeriesServices,
    Omit<SqlServices, keyof SeriesServices>,
    Omit<AdmissionServices, keyof SeriesServices> {
  /** Whether the replica is up to date with a table at this moment of the event loop. */
  readonly isLiveFor: (tableId: number) => boolean;
  /** The same for everything other than records: names, rights, views. */
  readonly isLive: () => boolean;
  /** Whether a change is in progress and arrives soon. */
  readonly isChanging: () => boolean;
  /** @throws Failure without a rate permit on this node, even if the serving node has one */
  readonly admit: (caller: Caller, address: string) => void;
}

/** The serving node must answer. */
export class Elsewhere extends Error {}

/** The requested data is changing: this node can answer a moment later. */
export class Changing extends Elsewhere {}

/** Parameters for continued queries or earlier versions, whose state only the serving node has. */
const SERVING_NODE_PARAMETERS = ['queryId', 'asOf'];

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
  const needsServingNode = SERVING_NODE_PARAMETERS.some((name) => call.query[name] !== undefined);
  if (needsServingNode || pictureOf(call.query) !== undefined) throw new Elsewhere();
}

/**
 * Checks that the datasets are up to date; the caller must read in the same turn of the event loop.
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
    // Clocks of nodes differ, so delayed records could become visible too early.
    const isDelayed = delayOf(caller, dataset, lake) > 0;
    const isSystem = dataset.workspace === SYSTEM_WORKSPACE;
    if (isDelayed || isSystem || isLinkedCall(call, dataset)) throw new Elsewhere();
    if (!isLiveFor(dataset.tableId)) throw notNow(services);
  }
  await Promise.all(datasets.map(({ tableId }) => lake.table(tableId)));
  if (!datasets.every(({ tableId }) => isLiveFor(tableId))) throw notNow(services);
  services.admit(caller, call.address);
}

export const notNow = ({ isChanging }: Pick<HereServices, 'isChanging'>): Elsewhere =>
  isChanging() ? new Changing() : new Elsewhere();
