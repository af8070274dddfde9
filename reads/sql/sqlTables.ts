// Binds the tables of a query for its caller: datasets, and views, whose own tables are bound for their
// owner. A table that the caller may not know of does not exist, in any spelling; one that it may not read is
// refused before a file is opened.
import type { BoundTable } from '../../query/sql/plan/boundTable.ts';
import { planSql } from '../../query/sql/run/run.ts';
import type { SelectPlan, TableName } from '../../query/sql/plan/selectPlan.ts';
import { refuseAt } from '../../query/sql/text/tokens.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { CORE, type Dataset } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import type { AsOf, Moment } from '../../store/lake/history/history.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { NamedTable, View } from '../../store/lake/datasets/views.ts';
import type { PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import { findDataset, isForeign, recordVisibility } from '../rights/access.ts';
import type { ReadRequest } from '../request/readRequest.ts';
import type { ReadServices } from '../request/readServices.ts';
import { checkIntent } from './sqlChecks.ts';
import { readPast } from '../series/moments.ts';
import {
  bindInformation,
  findInformationTable,
  isInformation,
  NO_STORED_INFORMATION,
} from './informationSchema.ts';
import { isLogs, logRows, openLogs } from './systemLogs.ts';
import { findView } from '../rights/viewAccess.ts';

type SqlTablesServices = Pick<
  ReadServices,
  'clock' | 'database' | 'lake' | 'pending' | 'queries' | 'settings' | 'sql'
>;

interface Binding {
  readonly caller: Caller;
  /** The workspace of names without one; CORE is searched next. */
  readonly workspace: string;
  /** The query text that the offsets of the plan refer to. */
  readonly source: string;
  readonly asOf: AsOf | undefined;
  /** The moment of all tables, if `asOf` is undefined. */
  readonly at: Moment;
  /** The tables of a stored query when it was stored; empty for another query. */
  readonly named: readonly NamedTable[];
  /** Ids of the views that this query is part of, the outermost first. */
  readonly within: readonly string[];
  /** The query belongs to its owner: the token's rights on single datasets do not apply. */
  readonly owned: boolean;
  readonly call: Pick<ReadRequest, 'departure'>;
}

/** Maximum depth of nested views. */
const VIEWS_DEPTH_MAX = 10;

type NamedTarget =
  | { readonly kind: 'dataset'; readonly dataset: Dataset }
  | { readonly kind: 'view'; readonly view: View };

/** @throws Failure InvalidParameter naming a missing table; the failures of `datasetOf`. */
export async function bindTables(
  plan: SelectPlan,
  binding: Binding,
  services: SqlTablesServices,
): Promise<readonly BoundTable[]> {
  await openLogs(plan, services);
  // All rights are checked first: nothing is opened for a query that may not run.
  const targets = plan.tables.map((name, at) =>
    findTable(name, binding.named[at], binding, services),
  );
  const schemas = targets.map((item) => (item.kind === 'view' ? item.view : item.dataset).schema);
  checkIntent(
    plan,
    schemas.map((schema) => schema?.properties ?? {}),
    binding.source,
    binding.owned,
  );
  const bound: BoundTable[] = [];
  for (const item of targets) {
    if (item.kind === 'view') bound.push(await bindView(item.view, binding, services));
    else if (isInformation(item.dataset)) {
      const hints = plan.hints.filter(({ table }) => table === bound.length);
      const { at, caller } = binding;
      bound.push(bindInformation(item.dataset, caller, hints, at, services));
    } else bound.push(await bindDataset(item.dataset, binding, services));
  }
  return bound;
}

async function bindDataset(
  dataset: Dataset,
  { asOf, at, caller }: Binding,
  services: SqlTablesServices,
): Promise<BoundTable> {
  const foreign = isForeign(caller, dataset, services.lake);
  const visibility = recordVisibility(caller, dataset, services);
  const bound = { kind: 'dataset', dataset, foreign, visibility } as const;
  const { tableId } = dataset;
  if (asOf !== undefined) {
    const past = await readPast(tableId, asOf, services);
    if (past === undefined) throw new Failure('NotFound');
    const { moment, table } = past;
    return { ...bound, table, pending: past.pending(), moment, newest: moment.sequence };
  }
  const table = await services.lake.recentTable(tableId, at.snapshot);
  if (table === undefined) throw new Failure('NotFound');
  const newest = Math.min(at.sequence, services.pending.latestSequence(tableId));
  const pending = await readPending(dataset, table.snapshot, at.sequence, caller, services);
  return { ...bound, table, pending, moment: at, newest };
}

async function readPending(
  dataset: Dataset,
  snapshot: number,
  sequence: number,
  { accountId }: Caller,
  { database, pending }: Pick<ReadServices, 'database' | 'pending'>,
): Promise<readonly PendingRow[]> {
  if (isLogs(dataset)) return logRows(database, accountId);
  return pending.rowsBeside(dataset.tableId, snapshot, undefined, sequence);
}

/** Binds the tables of a view. @throws Failure InvalidParameter for a view that contains itself. */
export async function bindView(
  view: View,
  binding: Binding,
  services: SqlTablesServices,
): Promise<Extract<BoundTable, { kind: 'view' }>> {
  const name = `${view.workspace}.${view.name}`;
  if (binding.within.includes(view.id)) {
    throw new Failure('InvalidParameter', `"sqlQuery": view ${name} contains itself`);
  }
  if (binding.within.length >= VIEWS_DEPTH_MAX) {
    throw new Failure('InvalidParameter', `"sqlQuery": at most ${VIEWS_DEPTH_MAX} views in views`);
  }
  const plan = await planSql(view.query, {}, services.sql, binding.call);
  const inner = {
    ...binding,
    workspace: view.workspace,
    source: view.query,
    named: view.tables,
    within: [...binding.within, view.id],
    owned: true,
  };
  return { kind: 'view', view, plan, tables: await bindTables(plan, inner, services) };
}

function findTable(
  table: TableName,
  named: NamedTable | undefined,
  { caller, owned, source, workspace }: Binding,
  { clock, lake, queries }: Pick<ReadServices, 'clock' | 'lake' | 'queries'>,
): NamedTarget {
  const reader = owned ? toOwner(caller) : caller;
  const places = table.workspace === undefined ? [workspace, CORE] : [table.workspace];
  const currentName = named === undefined ? undefined : findCurrentName(named, lake, queries);
  const renamed = currentName === undefined ? [] : [currentName];
  // Dataset names have no hyphens: an underscore replaces those of the original.
  const names = [...new Set([table.name, table.name.replaceAll('-', '_')])];
  const spelled = names.flatMap((name) => places.map((place) => ({ place, name })));
  for (const { place, name } of [...renamed, ...spelled]) {
    try {
      const view = findView(reader, place, name, { lake, queries });
      if (view !== undefined) return { kind: 'view', view };
      return { kind: 'dataset', dataset: findDataset(reader, place, name, lake) };
    } catch (error) {
      if (!(error instanceof Failure) || error.type !== 'NotFound') throw error;
    }
  }
  const information = findInformationTable(table.workspace, table.name, clock());
  if (information !== undefined) {
    if (!owned) return { kind: 'dataset', dataset: information };
    refuseAt(source, table.at, NO_STORED_INFORMATION);
  }
  const where = table.workspace === undefined ? workspace : table.workspace;
  return refuseAt(source, table.at, `there is no dataset ${where}.${table.name}`.slice(0, 400));
}

/** Finds the current name of a table of a stored query, if the table still exists. */
function findCurrentName(
  { tableId, viewId }: NamedTable,
  lake: Lake,
  queries: ReadServices['queries'],
): { readonly place: string; readonly name: string } | undefined {
  const dataset = tableId === undefined ? undefined : lake.directory.datasetById(tableId);
  if (dataset !== undefined) return { place: dataset.workspace, name: dataset.dataset };
  const view = viewId === undefined ? undefined : queries.viewById(viewId);
  return view === undefined ? undefined : { place: view.workspace, name: view.name };
}

/** The caller without the limits of its token, with the rights of its account. */
const toOwner = (caller: Caller): Caller => ({
  ...caller,
  token: { ...caller.token, kind: 'secret', grants: undefined },
});
