// Checks access to views and published queries: those of the caller's account within its token's rights, and
// those of CORE, which every account may read.
import type { Caller } from '../../store/accounts/callers.ts';
import { CORE } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { NamedQueries, PublishedQuery, View } from '../../store/lake/datasets/views.ts';
import { reachesTier } from '../../store/accounts/tiers.ts';
import { hasRight } from '../../store/accounts/tokens.ts';
import { ownWorkspaces, findReadableWorkspace, missingGrantFailure } from './access.ts';

interface Stores {
  readonly lake: Lake;
  readonly queries: NamedQueries;
}

/** The view of that name; undefined when there is none. @throws Failure NotFound, Restricted. */
export function findView(
  caller: Caller,
  workspace: string,
  name: string,
  { lake, queries }: Stores,
): View | undefined {
  const place = lake.directory.workspace(workspace)?.workspace;
  if (place === undefined || queries.view(place, name) === undefined) return undefined;
  return queries.view(viewWorkspaceOf(caller, place, name, lake), name);
}

/** The views that a token may read: of one workspace, or of CORE and all of its account. */
export function readableViews(caller: Caller, stores: Stores, workspace?: string): readonly View[] {
  const { lake, queries } = stores;
  const places =
    workspace === undefined
      ? [...new Set([...ownWorkspaces(caller, lake).map((own) => own.workspace), CORE])]
      : [lake.directory.workspace(workspace)?.workspace ?? workspace];
  return places.flatMap((place) =>
    queries.views(place).filter(({ name }) => {
      try {
        return findView(caller, place, name, stores) !== undefined;
      } catch {
        return false;
      }
    }),
  );
}

/**
 * The published query of that name.
 * @throws Failure NotFound, Restricted, FreeTierNotAllowed, TierNotAllowed.
 */
export function findPublishedQuery(
  caller: Caller,
  workspace: string,
  name: string,
  { lake, queries }: Stores,
): PublishedQuery {
  const query = queries.endpoint(viewWorkspaceOf(caller, workspace, name, lake), name);
  if (query === undefined) throw new Failure('NotFound');
  if (query.tier !== undefined && !reachesTier(caller.tier, query.tier)) {
    throw new Failure(caller.tier.name === 'free' ? 'FreeTierNotAllowed' : 'TierNotAllowed');
  }
  return query;
}

/** The workspace, if the caller may read the name in it, whether that exists or not. */
function viewWorkspaceOf(caller: Caller, workspace: string, name: string, lake: Lake): string {
  const place = findReadableWorkspace(caller, workspace, lake);
  const isOwn = place.accountId === caller.accountId;
  const isAllowed = isOwn
    ? hasRight(caller.token, place.workspace, name, 'read')
    : caller.token.core;
  if (!isAllowed) {
    throw isOwn ? missingGrantFailure(place.workspace, name, 'read') : new Failure('Restricted');
  }
  return place.workspace;
}
