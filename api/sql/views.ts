// Answers a view through the series endpoints, with all their parameters, metered as a query.
import { dayIn } from '../../query/time/dates.ts';
import { instantText, planSeries, type SeriesPlan } from '../../query/plan/seriesPlan.ts';
import { foldsRows } from '../../query/series/seriesRecords.ts';
import { objectsOf, objectsOfItems, weightOf } from '../../query/sql/run/price.ts';
import { rowsMost } from '../../query/sql/run/rowsMost.ts';
import { paidBytesMost } from '../../query/sql/run/rowBytes.ts';
import { type BoundPlan, countRecords, describeSql } from '../../query/sql/run/run.ts';
import {
  datasetOfView,
  restrictionsOf,
  runViewSeries,
  tableOfView,
} from '../../query/sql/run/viewSeries.ts';
import { datasetsOf } from '../../query/sql/plan/boundTable.ts';
import type { SeriesShape } from '../../query/plan/seriesMembers.ts';

import type { Body, BodyFormat } from '../../store/duckdb/protocol.ts';
import type { View } from '../../store/lake/datasets/namedQueries.ts';
import { callerOf, defaultWorkspaceFor } from '../auth/access.ts';
import type { Answer, Call, Services } from '../request/endpoint.ts';
import { type Metered, metered, meteredTogether } from '../read/metering.ts';
import { momentNow } from '../read/moments.ts';
import { drawn, pictureOf, seriesShown, type Shown } from '../read/pictures.ts';
import { numberOf, refuse, textOf, truthOf } from '../request/parameters.ts';
import {
  describePlan,
  formatOf,
  objectsMax,
  readAsOf,
  refuseBeside,
  rowsOf,
} from '../read/series.ts';
import { readSeries } from '../read/seriesParameters.ts';
import { limitsOf, momentOf, paidBytesOf, snapshotOf } from './sql.ts';
import { isPaidByBytes, mostOf, refuseDear, sqlFareOf } from './sqlPrice.ts';
import { bindView } from './sqlTables.ts';
import { viewOf } from '../auth/viewAccess.ts';

type ViewsServices = Pick<
  Services,
  | 'charts'
  | 'clock'
  | 'database'
  | 'failedTime'
  | 'lake'
  | 'ledger'
  | 'pending'
  | 'queries'
  | 'settings'
  | 'sql'
>;

/** Finds the view of a path, if no dataset has its name. @throws Failure Restricted. */
export function viewNamed(
  call: Call,
  workspace: string,
  id: string,
  { lake, queries }: Pick<Services, 'lake' | 'queries'>,
): View | undefined {
  if (lake.directory.dataset(workspace, id) !== undefined) return undefined;
  return viewOf(callerOf(call.caller), workspace, id, { lake, queries });
}

/** Finds the view of `/time-series/{id}`: `WS.VIEW`, or a view of the default workspace. */
export function seriesView(call: Call, id: string, services: ViewsServices): View | undefined {
  const dot = id.indexOf('.');
  if (dot > 0) return viewNamed(call, id.slice(0, dot), id.slice(dot + 1), services);
  const first = defaultWorkspaceFor(callerOf(call.caller), id, services.lake);
  return first === undefined ? undefined : viewNamed(call, first.workspace, id, services);
}

export async function answerView(
  call: Call,
  services: ViewsServices,
  view: View,
  shape: SeriesShape,
): Promise<Answer> {
  const caller = callerOf(call.caller);
  const { settings } = services;
  const unsupported = ['queryId', 'updated'].find((name) => call.query[name] !== undefined);
  if (unsupported !== undefined)
    refuse(unsupported, 'is not allowed with a view: it stores no records');
  const format = formatOf(call);
  const picture = pictureOf(call.query);
  if (format === 'arrow' || format === 'parquet') refuseBeside(call, format);
  services.failedTime.check(caller);
  const bound = await boundView(view, call, services);
  const snapshot = snapshotOf(bound);
  const moment = momentOf(bound);
  const dataset = datasetOfView(view, weightOf(bound.tables));
  const plan = planSeries(readSeries(call, settings.zone), {
    dataset,
    table: tableOfView(view, snapshot),
    visibility: { kind: 'all' },
    rowsMax: caller.tier.rowsMax,
    today: bound.today,
    zone: settings.zone,
    shape,
  });
  if (truthOf(call.query, 'schema')) {
    return { kind: 'json', value: describePlan(plan), metering: 'free' };
  }
  const datasets = datasetsOf(bound.tables).map((table) => table.dataset);
  const chart = { picture, ...seriesShown(call, view.name, dataset.mapping, shape) };
  const paid = await runPaidView({ plan, bound, view, format, chart }, call, services);
  if (paid.kind === 'estimate') return { kind: 'json', value: paid.price, metering: 'free' };
  const common = { format, picture, snapshot, moment, tag: undefined, datasets };
  if (paid.kind === 'unread') return { ...paid, ...common };
  return rowsOf(call, { ...common, body: paid.result, charge: paid.charge });
}

interface PlannedView {
  readonly plan: SeriesPlan;
  readonly bound: BoundPlan;
  readonly view: View;
  readonly format: BodyFormat;
  readonly chart: Shown;
}

/** Runs a view at its price: exact over own data, else the bound of any query. */
async function runPaidView(
  { bound, format, plan, chart, view }: PlannedView,
  call: Call,
  services: ViewsServices,
): Promise<Metered<Body>> {
  const caller = callerOf(call.caller);
  const { settings, sql } = services;
  const limits = limitsOf(caller, settings);
  const stored = { weight: undefined, usageKey: `${view.workspace}.${view.name}` };
  const pricedQuery = {
    workspace: view.workspace,
    stored,
    restrictions: restrictionsOf(plan),
    folds: foldsRows(plan),
  };
  const rows = Math.min(objectsMax(plan), rowsMost(bound));
  const fare = sqlFareOf(call, caller, bound, services, pricedQuery, rows);
  const describe = () => describeSql(bound, sql, limits, call);
  const [own] = fare.fares;
  if (own !== undefined && !fare.foreign) {
    const read = async () => {
      const body = await runViewSeries(plan, bound, format, sql, limits, call);
      const recordBytes = await paidBytesOf(fare, body, describe, bound);
      return { ...(await drawn(call, services, body, chart)), recordBytes };
    };
    const price = ({ objects, recordBytes }: Awaited<ReturnType<typeof read>>): number =>
      objectsOf(objects, recordBytes);
    return metered(call, services, caller, { ...own, most: objectsMax(plan), price }, read);
  }
  const allowed = numberOf(call.query, 'maxMessages');
  const isEstimate = truthOf(call.query, 'estimate');
  if (isEstimate || allowed !== undefined) {
    const bytes = isPaidByBytes(fare) ? paidBytesMost(bound, await describe(), rows) : 0;
    if (isEstimate) return { kind: 'estimate', price: mostOf(fare, rows, bytes) };
    refuseDear(fare, rows, bytes, allowed);
  }
  return meteredTogether(call, services, caller, fare.fares, async () => {
    const counts = await countRecords(bound, fare.tariff.counted, sql, limits, call);
    const body = await runViewSeries(plan, bound, format, sql, limits, call);
    const bytes = await paidBytesOf(fare, body, describe, bound);
    const objects = objectsOfItems(fare.tariff, body.objects, bytes, counts);
    return { result: await drawn(call, services, body, chart), objects };
  });
}

/** Plans a view with the tables that its owner reads. */
export async function boundView(
  view: View,
  call: Call,
  services: ViewsServices,
): Promise<BoundPlan> {
  const { clock, settings } = services;
  const { plan, tables } = await bindView(
    view,
    {
      caller: callerOf(call.caller),
      workspace: view.workspace,
      source: view.query,
      asOf: readAsOf(textOf(call.query, 'asOf'), settings.zone),
      at: momentNow(services),
      named: [],
      within: [],
      owned: true,
      call,
    },
    services,
  );
  return {
    plan,
    source: view.query,
    tables,
    system: false,
    today: dayIn(clock(), settings.zone),
    now: instantText(clock()),
  };
}
