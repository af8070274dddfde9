// Read endpoints of a replica. It answers current records of datasets that it follows and is up to date with.
// All other requests, and all refusals, are left to the serving node.
import { accessDelayMs, findDataset, findSeriesDataset } from '../../../reads/rights/access.ts';
import type { AdmissionServices } from '../../auth/admission.ts';
import { answerBatch } from '../../../reads/series/batch.ts';
import { parseChartFormat } from '../../../reads/answer/charts.ts';
import { answerSeries, type SeriesServices } from '../../../reads/series/series.ts';
import { splitSegment } from '../../../reads/series/queryParameters.ts';
import type { SqlServices } from '../../../reads/sql/sql.ts';
import { isLinkedCall } from '../../../reads/market/reference/smartLinks.ts';
import type { Caller } from '../../../store/accounts/callers.ts';
import type { Call, Endpoint } from '../../request/endpoint.ts';
import type { Dataset } from '../../../store/lake/datasets/datasets.ts';
import { SYSTEM_WORKSPACE } from '../../../store/lake/systemTables.ts';
import { queryData, timeSeries } from '../read/read.ts';

/** Services of reads on a replica. */
export interface ReplicaServices
  extends
    SeriesServices,
    Omit<SqlServices, keyof SeriesServices>,
    Omit<AdmissionServices, keyof SeriesServices> {
  /** Whether the replica is up to date with a table at this moment of the event loop. */
  readonly isTableCurrent: (tableId: number) => boolean;
  /** The same for everything other than records: names, rights, views. */
  readonly isDirectoryCurrent: () => boolean;
  /** Whether a change is in progress and arrives soon. */
  readonly isChanging: () => boolean;
  /** @throws Failure without a rate permit on this node, even if the serving node has one */
  readonly admit: (caller: Caller, address: string) => void;
}

/** The serving node must answer. */
export class ServingNodeRequired extends Error {}

/** The requested data is changing: this node can answer a moment later. */
export class ChangeInProgress extends ServingNodeRequired {}

/** Parameters for continued queries or earlier versions, whose state only the serving node has. */
const SERVING_NODE_PARAMETERS = ['queryId', 'asOf'];

export const REPLICA_SERIES: readonly Endpoint<ReplicaServices>[] = [
  {
    ...queryData,
    handle: async (call, services) => {
      checkCall(call);
      const { workspace = '', id = '' } = call.path;
      const ids = splitSegment(id, call.query);
      const datasets = ids.map((name) => findDataset(call.caller, workspace, name, services.lake));
      await checkDatasets(call, services, datasets);
      const [dataset, ...others] = datasets;
      if (dataset === undefined) throw new ServingNodeRequired();
      if (others.length > 0) return answerBatch(call, services, workspace, ids);
      return answerSeries(call, services, dataset, 'data');
    },
  },
  {
    ...timeSeries,
    handle: async (call, services) => {
      checkCall(call);
      const { id = '' } = call.path;
      const dataset = findSeriesDataset(call.caller, id, services.lake);
      await checkDatasets(call, services, [dataset]);
      return answerSeries(call, services, dataset, 'time-series');
    },
  },
];

/** @throws Elsewhere */
function checkCall(call: Call): void {
  const needsServingNode = SERVING_NODE_PARAMETERS.some((name) => call.query[name] !== undefined);
  if (needsServingNode || parseChartFormat(call.query) !== undefined)
    throw new ServingNodeRequired();
}

/**
 * Checks that the datasets are up to date; the caller must read in the same turn of the event loop.
 * @throws Elsewhere
 */
async function checkDatasets(
  call: Call,
  services: ReplicaServices,
  datasets: readonly Dataset[],
): Promise<void> {
  const { caller } = call;
  const { isTableCurrent, lake } = services;
  for (const dataset of datasets) {
    // Clocks of nodes differ, so delayed records could become visible too early.
    const isDelayed = accessDelayMs(caller, dataset, lake) > 0;
    const isSystem = dataset.workspace === SYSTEM_WORKSPACE;
    if (isDelayed || isSystem || isLinkedCall(call, dataset)) throw new ServingNodeRequired();
    if (!isTableCurrent(dataset.tableId)) throw notCurrentError(services);
  }
  await Promise.all(datasets.map(({ tableId }) => lake.table(tableId)));
  if (!datasets.every(({ tableId }) => isTableCurrent(tableId))) throw notCurrentError(services);
  services.admit(caller, call.address);
}

export const notCurrentError = ({
  isChanging,
}: Pick<ReplicaServices, 'isChanging'>): ServingNodeRequired =>
  isChanging() ? new ChangeInProgress() : new ServingNodeRequired();
