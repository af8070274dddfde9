// Answers a view through the series endpoints, with all their parameters, metered as a query.
import { dayIn } from '../../query/time/dates.ts';
import { instantText, planSeries, type SeriesPlan } from '../../query/plan/seriesPlan.ts';
import { aggregatesRows } from '../../query/series/seriesRecords.ts';
import { countObjects, countItemObjects, weightOf } from '../../query/sql/run/price.ts';
import { maxAnswerRows } from '../../query/sql/run/rowBounds.ts';
import { maxPaidBytes } from '../../query/sql/run/rowBytes.ts';
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
import type { View } from '../../store/lake/datasets/views.ts';
import { findDefaultWorkspace } from '../rights/access.ts';
import type { Answer } from '../request/answer.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import { type Metered, meterCall, meterTogether } from '../answer/metering.ts';
import { currentMoment } from '../series/moments.ts';
import {
  renderChart,
  parseChartFormat,
  toSeriesChart,
  type ChartOptions,
} from '../answer/charts.ts';
import { numberOf, refuse, textOf, truthOf } from '../request/parameters.ts';
import { describePlan, maxPlanObjects, parseAsOf } from '../series/series.ts';
import { selectFormat, refuseCallback } from '../answer/format.ts';
import { answerReading } from '../answer/answerReading.ts';
import { parseSeries } from '../series/queryParameters.ts';
import { buildLimits, findMoment, countChargedBytes, latestSnapshot } from './sql.ts';
import { isPaidByBytes, computeMaxPrice, refuseExpensive, buildSqlFare } from './sqlPrice.ts';
import { bindView } from './sqlTables.ts';
import { findView as findReadableView } from '../rights/viewAccess.ts';
import { exclusionRule } from '../../store/base/valueRules.ts';

type ViewsServices = Pick<
  ReadServices,
  | 'workers'
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
export function findView(
  call: ReadRequest,
  workspace: string,
  id: string,
  { lake, queries }: Pick<ReadServices, 'lake' | 'queries'>,
): View | undefined {
  if (lake.directory.dataset(workspace, id) !== undefined) return undefined;
  return findReadableView(call.caller, workspace, id, { lake, queries });
}

/** Finds the view of `/time-series/{id}`: `WS.VIEW`, or a view of the default workspace. */
export function findSeriesView(
  call: ReadRequest,
  id: string,
  services: ViewsServices,
): View | undefined {
  const dot = id.indexOf('.');
  if (dot > 0) return findView(call, id.slice(0, dot), id.slice(dot + 1), services);
  const first = findDefaultWorkspace(call.caller, id, services.lake);
  return first === undefined ? undefined : findView(call, first.workspace, id, services);
}

export async function answerView(
  call: ReadRequest,
  services: ViewsServices,
  view: View,
  shape: SeriesShape,
): Promise<Answer> {
  const { caller } = call;
  const { settings } = services;
  const unsupported = ['queryId', 'updated'].find((name) => call.query[name] !== undefined);
  if (unsupported !== undefined)
    refuse(unsupported, `${exclusionRule('a view')}: it stores no records`);
  const format = selectFormat(call);
  const picture = parseChartFormat(call.query);
  if (format === 'arrow' || format === 'parquet') refuseCallback(call, format);
  services.failedTime.check(caller);
  const bound = await planView(view, call, services);
  const snapshot = latestSnapshot(bound);
  const moment = findMoment(bound);
  const dataset = datasetOfView(view, weightOf(bound.tables));
  const plan = planSeries(parseSeries(call, settings.zone), {
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
  const chart = { picture, ...toSeriesChart(call, view.name, dataset.mapping, shape) };
  const planned = { plan, bound, view, format, chart };
  return answerReading(call, {
    format,
    picture,
    snapshot,
    moment,
    tag: undefined,
    datasets,
    meter: () => runPaidView(planned, call, services),
  });
}

interface PlannedView {
  readonly plan: SeriesPlan;
  readonly bound: BoundPlan;
  readonly view: View;
  readonly format: BodyFormat;
  readonly chart: ChartOptions;
}

/** Runs a view at its price: exact over own data, else the bound of any query. */
async function runPaidView(
  { bound, format, plan, chart, view }: PlannedView,
  call: ReadRequest,
  services: ViewsServices,
): Promise<Metered<Body>> {
  const { caller } = call;
  const { settings, sql } = services;
  const limits = buildLimits(caller, settings);
  const stored = { weight: undefined, usageKey: `${view.workspace}.${view.name}` };
  const pricedQuery = {
    workspace: view.workspace,
    stored,
    restrictions: restrictionsOf(plan),
    folds: aggregatesRows(plan),
  };
  const rows = Math.min(maxPlanObjects(plan), maxAnswerRows(bound));
  const fare = buildSqlFare(call, caller, bound, services, pricedQuery, rows);
  const describe = () => describeSql(bound, sql, limits, call);
  const [own] = fare.fares;
  if (own !== undefined && !fare.foreign) {
    const read = async () => {
      const body = await runViewSeries(plan, bound, format, sql, limits, call);
      const recordBytes = await countChargedBytes(fare, body, describe, bound);
      return { ...(await renderChart(call, services, body, chart)), recordBytes };
    };
    const price = ({ objects, recordBytes }: Awaited<ReturnType<typeof read>>): number =>
      countObjects(objects, recordBytes);
    return meterCall(call, services, caller, { ...own, most: maxPlanObjects(plan), price }, read);
  }
  const allowed = numberOf(call.query, 'maxMessages');
  const isEstimate = truthOf(call.query, 'estimate');
  if (isEstimate || allowed !== undefined) {
    const bytes = isPaidByBytes(fare) ? maxPaidBytes(bound, await describe(), rows) : 0;
    if (isEstimate) return { kind: 'estimate', price: computeMaxPrice(fare, rows, bytes) };
    refuseExpensive(fare, rows, bytes, allowed);
  }
  return meterTogether(call, services, caller, fare.fares, async () => {
    const counts = await countRecords(bound, fare.tariff.counted, sql, limits, call);
    const body = await runViewSeries(plan, bound, format, sql, limits, call);
    const bytes = await countChargedBytes(fare, body, describe, bound);
    const objects = countItemObjects(fare.tariff, body.objects, bytes, counts);
    return { result: await renderChart(call, services, body, chart), objects };
  });
}

/** Plans a view with the tables that its owner reads. */
export async function planView(
  view: View,
  call: ReadRequest,
  services: ViewsServices,
): Promise<BoundPlan> {
  const { clock, settings } = services;
  const { plan, tables } = await bindView(
    view,
    {
      caller: call.caller,
      workspace: view.workspace,
      source: view.query,
      asOf: parseAsOf(textOf(call.query, 'asOf'), settings.zone),
      at: currentMoment(services),
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
