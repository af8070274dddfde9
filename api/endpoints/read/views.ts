// Views: named SELECTs that are read like datasets (INTERFACE.md 3.6).
import { SQL_BODY_BYTES_MAX } from '../../../reads/request/bodyLimits.ts';
import { Type } from '../../../reads/request/schema.ts';
import { datasetOfView } from '../../../query/sql/run/viewSeries.ts';
import { weightOf } from '../../../query/sql/run/price.ts';
import { Failure } from '../../../store/base/failure.ts';
import type { NamedQueries, View } from '../../../store/lake/datasets/views.ts';
import { nameCollision } from '../../../store/lake/datasets/nameCollisions.ts';
import { checkDatasetRoom, findManagedWorkspace } from '../../../reads/rights/access.ts';
import { schemaView } from '../../datasets/datasetView.ts';
import type { Call, Endpoint, Services } from '../../request/endpoint.ts';
import { planView } from '../../../reads/sql/views.ts';
import { VIEW_BODY, viewBody, viewMembers } from '../../../reads/sql/queryBody.ts';

const ANY = Type.Object({}, { additionalProperties: true });
const ROW = {
  token: 'secret',
  weight: 'free',
  parameters: [],
  failures: 'workspace',
} as const satisfies Partial<Endpoint>;

const CHANGED = Type.Object({
  success: Type.Literal(true),
  message: Type.String(),
  viewId: Type.String(),
});

export const saveView: Endpoint = {
  ...ROW,
  id: 'saveView',
  method: 'POST',
  path: '/views/:workspace/:id?',
  summary: 'Creates a view from a SELECT, or changes an existing one.',
  body: { kind: 'json', schema: VIEW_BODY, bytesMax: SQL_BODY_BYTES_MAX },
  answer: CHANGED,
  handle: async (call, services) => {
    const { lake, queries } = services;
    const { caller } = call;
    const place = findManagedWorkspace(caller, call.path['workspace'] ?? '', lake);
    const { workspace } = place;
    const name = call.path['id'] ?? (call.json as { view: { name?: string } }).view.name;
    if (name === undefined) throw new Failure('InvalidBody', 'view.name is required');
    const existing = queries.view(workspace, name);
    if (lake.directory.dataset(workspace, name) !== undefined) {
      throw nameCollision('dataset', workspace, name);
    }
    if (existing === undefined) checkDatasetRoom(caller, place, name, services);
    const body = await viewBody(call, services, workspace);
    if (existing !== undefined)
      refuseCycle(
        existing,
        body.tables.map(({ viewId }) => viewId),
        queries,
      );
    const { name: viewId } = await queries.save(workspace, name, body);
    const message = existing === undefined ? 'View has been created' : 'View has been updated';
    return { kind: 'json', value: { success: true, message, viewId }, metering: 'free' };
  },
};

/** @throws Failure InvalidBody if a view would contain a cycle. */
function refuseCycle(
  { id, name }: View,
  inner: readonly (string | undefined)[],
  queries: NamedQueries,
): void {
  for (const viewId of inner) {
    const view = viewId === undefined ? undefined : queries.viewById(viewId);
    if (view === undefined) continue;
    if (view.id === id) throw new Failure('InvalidBody', `view ${name} would contain itself`);
    refuseCycle(
      { ...view, id, name },
      view.tables.map((table) => table.viewId),
      queries,
    );
  }
}

const ownView = (call: Call, { lake, queries }: Pick<Services, 'lake' | 'queries'>): View => {
  const { workspace } = findManagedWorkspace(call.caller, call.path['workspace'] ?? '', lake);
  const view = queries.view(workspace, call.path['id'] ?? '');
  if (view === undefined) throw new Failure('NotFound');
  return view;
};

export const listViews: Endpoint = {
  ...ROW,
  id: 'listViews',
  method: 'GET',
  path: '/views/:workspace',
  summary: 'The views of a workspace, with their queries and schemas.',
  answer: Type.Array(ANY),
  handle: async (call, { lake, queries }) => {
    const { workspace } = findManagedWorkspace(call.caller, call.path['workspace'] ?? '', lake);
    const value = queries.views(workspace).map(viewAsDataset);
    return { kind: 'json', value, metering: 'free' };
  },
};

export const getView: Endpoint = {
  ...ROW,
  id: 'getView',
  method: 'GET',
  path: '/views/:workspace/:id',
  summary: 'A view, with its query, its schema and what its records cost.',
  answer: ANY,
  handle: async (call, services) => {
    const view = ownView(call, services);
    const { tables } = await planView(view, call, services);
    const value = { ...viewAsDataset(view), weight: weightOf(tables) };
    return { kind: 'json', value, metering: 'free' };
  },
};

export const deleteView: Endpoint = {
  ...ROW,
  id: 'deleteView',
  method: 'DELETE',
  path: '/views/:workspace/:id',
  summary: 'Deletes a view; its datasets stay as they are.',
  answer: CHANGED,
  handle: async (call, services) => {
    const view = ownView(call, services);
    await services.queries.remove(view);
    const value = { success: true, message: 'View has been deleted', viewId: view.name };
    return { kind: 'json', value, metering: 'free' };
  },
};

/** Renders a view as a dataset without counts, which would need a query. */
export const viewAsDataset = (view: View): object => ({
  ...schemaView(datasetOfView(view, 0)),
  weight: null,
  ...viewMembers(view),
  keys: null,
  records: null,
});
