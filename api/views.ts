// A view as the series doors answer it: its rows with all their parameters, metered as a query.
import { dayIn } from '../query/dates.ts';
import { instantText, planSeries } from '../query/seriesPlan.ts';
import { objectsOf, weightOf } from '../query/sql/price.ts';
import type { BoundPlan } from '../query/sql/run.ts';
import { datasetOfView, runViewSeries, tableOfView } from '../query/sql/viewSeries.ts';
import type { SeriesShape } from '../query/seriesMembers.ts';
import type { Body } from '../store/duckdb/protocol.ts';
import type { View } from '../store/namedQueries.ts';
import { callerOf, ownWorkspaces } from './access.ts';
import type { Answer, Call, Services } from './endpoint.ts';
import { metered } from './metering.ts';
import { momentNow } from './moments.ts';
import { refuse, textOf, truthOf } from './parameters.ts';
import { describePlan, formatOf, objectsMax, readAsOf, refuseBeside, rowsOf } from './series.ts';
import { readSeries } from './seriesParameters.ts';
import { limitsOf, momentOf, snapshotOf, sqlOrderOf } from './sql.ts';
import { bindView } from './sqlTables.ts';
import { viewOf } from './viewAccess.ts';

/** The view of a path, where no dataset has its name. @throws Failure Restricted. */
export function viewNamed(
  call: Call,
  workspace: string,
  id: string,
  { lake, queries }: Services,
): View | undefined {
  if (lake.catalogue.dataset(workspace, id) !== undefined) return undefined;
  return viewOf(callerOf(call.caller), workspace, id, { lake, queries });
}

/** `/time-series/{id}`: `WS.VIEW`, or a view of the default workspace. */
export function seriesView(call: Call, id: string, services: Services): View | undefined {
  const dot = id.indexOf('.');
  if (dot > 0) return viewNamed(call, id.slice(0, dot), id.slice(dot + 1), services);
  const [first] = ownWorkspaces(callerOf(call.caller), services.lake);
  return first === undefined ? undefined : viewNamed(call, first.workspace, id, services);
}

export async function answerView(
  call: Call,
  services: Services,
  view: View,
  shape: SeriesShape,
): Promise<Answer> {
  const caller = callerOf(call.caller);
  const { settings, sql } = services;
  const given = ['queryId', 'updated'].find((name) => call.query[name] !== undefined);
  if (given !== undefined) refuse(given, 'is not allowed with a view: it keeps no records');
  const format = formatOf(call);
  if (format === 'arrow' || format === 'parquet') refuseBeside(call, format);
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
  const limits = limitsOf(caller, settings);
  const run = async (): Promise<{ readonly objects: number; readonly body: Body }> => {
    const body = await runViewSeries(plan, bound, format, sql, limits, call);
    return { objects: objectsOf(body.objects, body.bytes.length), body };
  };
  const stored = {
    tables: view.tables,
    weight: undefined,
    usageKey: `${view.workspace}.${view.name}`,
  };
  const place = { workspace: view.workspace, stored };
  const order = sqlOrderOf(call, caller, bound, services, place);
  const metering = await metered(call, services, caller, order, objectsMax(plan), run);
  if (metering.kind === 'estimate') {
    return { kind: 'json', value: metering.price, metering: 'free' };
  }
  const { charge, result } = metering;
  const { body } = result;
  return rowsOf(call, { body, format, snapshot, moment, tag: undefined, charge, dataset });
}

/** The view's plan with the tables that its owner reads. */
export async function boundView(view: View, call: Call, services: Services): Promise<BoundPlan> {
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
