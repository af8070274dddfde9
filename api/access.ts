// Who may touch what. Another account's workspace does not exist for a caller: 404, not 401, so
// that names can't be probed.
import type { Visibility } from '../query/seriesPlan.ts';
import type { Caller } from '../store/accounts.ts';
import type { Dataset, Workspace } from '../store/datasets.ts';
import { Failure } from '../store/failure.ts';
import type { Lake } from '../store/lake.ts';
import type { TokenNeed } from './endpoint.ts';

/** @throws Failure SecretKeyRequired. */
export function checkKind(caller: Caller, need: TokenNeed): void {
  if (need === 'secret' && caller.kind !== 'secret') throw new Failure('SecretKeyRequired');
}

export function callerOf(caller: Caller | undefined): Caller {
  if (caller === undefined) throw new Failure('NoKey');
  return caller;
}

/** @throws Failure NotFound. */
export function workspaceOf(caller: Caller, name: string, lake: Lake): Workspace {
  const workspace = lake.catalogue.workspace(name);
  if (workspace === undefined || workspace.accountId !== caller.accountId) {
    throw new Failure('NotFound');
  }
  return workspace;
}

/** @throws Failure NotFound. */
export function datasetOf(caller: Caller, workspace: string, id: string, lake: Lake): Dataset {
  const owned = workspaceOf(caller, workspace, lake);
  const dataset = lake.catalogue.dataset(owned.workspace, id);
  if (dataset === undefined) throw new Failure('NotFound');
  return dataset;
}

/** `/time-series/{id}`: `WS.ID`, or an id of the caller's default workspace, its first one. */
export function seriesDataset(caller: Caller, id: string, lake: Lake): Dataset {
  const dot = id.indexOf('.');
  if (dot > 0) return datasetOf(caller, id.slice(0, dot), id.slice(dot + 1), lake);
  const [first] = lake.catalogue.workspaces(caller.accountId);
  if (first === undefined) throw new Failure('NotFound');
  return datasetOf(caller, first.workspace, id, lake);
}

/** The owner sees every record of a dataset; nobody else is let in yet. */
export function visibilityOf(caller: Caller, dataset: Dataset, lake: Lake): Visibility {
  workspaceOf(caller, dataset.workspace, lake);
  return { kind: 'all' };
}
