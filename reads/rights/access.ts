// Checks access to workspaces and datasets. Another account's workspace answers 404, not 401, so that names
// can't be probed. Workspace CORE is the operator's, and every account reads it within the `Access` of its
// datasets (store/lake/datasets/datasets.ts); `_SYSTEM` shows each account its own lines.
import type { Visibility } from '../../query/plan/seriesPlan.ts';
import { dayIn } from '../../query/time/dates.ts';
import type { Clock } from '../../store/base/clock.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { CORE, type Dataset, type Workspace } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Lake } from '../../store/lake/lake.ts';
import type { NamedQueries } from '../../store/lake/datasets/views.ts';
import { SYSTEM_WORKSPACE } from '../../store/lake/systemTables.ts';
import { reachesTier } from '../../store/accounts/tiers.ts';
import { hasRight, managesAccount, type Right } from '../../store/accounts/tokens.ts';
import type { ReadRequest } from '../request/readRequest.ts';

/**
 * The tokens that an endpoint accepts. A publishable token may read what it was granted, `granted` also
 * accepts one with the right to change it, `admin` is the operator's own.
 */
export type TokenNeed = 'none' | 'publishable' | 'granted' | 'secret' | 'admin';

/** @throws Failure SecretKeyRequired. */
export function checkKind({ kind, token }: Caller, need: TokenNeed): void {
  if (kind === 'secret' || need === 'publishable' || need === 'none') return;
  const changes = (token.grants ?? []).some(({ rights }) => rights.some((one) => one !== 'read'));
  if (need !== 'granted' || !changes) throw new Failure('SecretKeyRequired');
}

export function requireCaller(caller: Caller | undefined): Caller {
  if (caller === undefined) throw new Failure('NoKey');
  return caller;
}

/** The caller, if it may manage its whole account. @throws Failure Restricted. */
export function requireManager(caller: Caller): Caller {
  checkManages(caller);
  return caller;
}

/** @throws Failure NotFound. */
function ownWorkspace(caller: Caller, name: string, lake: Lake): Workspace {
  const workspace = lake.directory.workspace(name);
  if (workspace === undefined || workspace.accountId !== caller.accountId) {
    throw new Failure('NotFound');
  }
  return workspace;
}

/**
 * The caller's workspace, for operations on all of it.
 * @throws Failure NotFound; Restricted for a token with rights on single datasets.
 */
export function findManagedWorkspace(caller: Caller, name: string, lake: Lake): Workspace {
  const workspace = ownWorkspace(caller, name, lake);
  checkManages(caller);
  return workspace;
}

/** The workspace of a path, for operations on all of it. @throws as `findManagedWorkspace`. */
export const findPathWorkspace = (
  { caller, path }: Pick<ReadRequest, 'caller' | 'path'>,
  { lake }: { readonly lake: Lake },
): Workspace => findManagedWorkspace(caller, path['workspace'] ?? '', lake);

/** @throws Failure Restricted for a token with rights on single datasets. */
function checkManages({ token }: Caller): void {
  if (!managesAccount(token)) throw new Failure('Restricted', MANAGES_NOTHING);
}

const MANAGES_NOTHING =
  'The token has grants on single datasets, or is publishable: ' +
  'what concerns the whole account needs a secret token without grants';

/**
 * The workspace in which a dataset may be changed, whether the dataset exists or not.
 * @throws Failure NotFound, Restricted.
 */
export function findWritableWorkspace(
  caller: Caller,
  name: string,
  dataset: string,
  right: Right,
  lake: Lake,
): Workspace {
  const workspace = ownWorkspace(caller, name, lake);
  checkRight(caller, workspace, dataset, right);
  return workspace;
}

/** Refuses a name without the right to it, whether the dataset exists or not. */
function checkRight(caller: Caller, { workspace }: Workspace, id: string, right: Right): void {
  if (!hasRight(caller.token, workspace, id, right))
    throw missingGrantFailure(workspace, id, right);
}

/** A failure with the missing grant, and how to add it. */
export function missingGrantFailure(workspace: string, id: string, right: Right): Failure {
  const grant = JSON.stringify({ datasets: `${workspace}.${id}`, rights: [right] });
  return new Failure(
    'Restricted',
    `The token has no grant to ${right} ${workspace}.${id}: add ${grant} to its grants, with a secret ` +
      `token by PATCH /account/tokens/{tokenId}, or in the console under Tokens`,
  );
}

/** Whether any account may read it in CORE: then the owner's tokens with `core` may too. */
const isOpenInCore = ({ token }: Caller, dataset: Dataset | undefined): boolean =>
  token.core && dataset?.workspace === CORE && dataset.access.level === 'open';

/**
 * Checks a new dataset or view: no view has its name, and the account is below its limit.
 * @throws Failure Conflict; InvalidBody at the tier's limit of datasets and views in all workspaces.
 */
export function checkDatasetRoom(
  { accountId, tier }: Caller,
  { workspace: place }: Workspace,
  name: string,
  { lake, queries }: { readonly lake: Lake; readonly queries: NamedQueries },
): void {
  queries.refuseExistingView(place, name);
  const { directory } = lake;
  const datasetCount = directory
    .workspaces(accountId)
    .map(({ workspace }) => directory.datasets(workspace).length + queries.views(workspace).length)
    .reduce((sum, count) => sum + count, 0);
  if (datasetCount < tier.datasetsMax) return;
  const limit = `${tier.datasetsMax} datasets, the maximum of tier ${tier.name}`;
  throw new Failure('InvalidBody', `the account holds ${limit}`);
}

/**
 * The workspace in which a caller may read a name, whether it exists or not.
 * @throws Failure NotFound, Restricted.
 */
export function findDatasetWorkspace(
  caller: Caller,
  workspace: string,
  id: string,
  lake: Lake,
  right: Right = 'read',
): Workspace {
  const owned = findWorkspace(caller, workspace, right, lake);
  if (owned.accountId !== caller.accountId) return owned;
  const dataset = right === 'read' ? lake.directory.dataset(owned.workspace, id) : undefined;
  if (!isOpenInCore(caller, dataset)) checkRight(caller, owned, id, right);
  return owned;
}

/** A dataset that the caller has the right to. @throws Failure NotFound, Restricted, as `checkEntitled`. */
export function findDataset(
  caller: Caller,
  workspace: string,
  id: string,
  lake: Lake,
  right: Right = 'read',
): Dataset {
  const shared = right === 'read' ? sharedDataset(caller, workspace, id, lake) : undefined;
  if (shared !== undefined) return shared;
  const owned = findDatasetWorkspace(caller, workspace, id, lake, right);
  const dataset = lake.directory.dataset(owned.workspace, id);
  if (dataset === undefined) throw new Failure('NotFound');
  checkEntitled(caller, dataset, owned);
  return dataset;
}

/** A dataset that another account shares with the caller; otherwise undefined. @throws as `checkShared`. */
function sharedDataset(
  caller: Caller,
  workspace: string,
  id: string,
  { directory }: Lake,
): Dataset | undefined {
  const owner = directory.workspace(workspace);
  if (owner === undefined || owner.accountId === caller.accountId) return undefined;
  const tableId = directory.dataset(owner.workspace, id)?.tableId;
  const shared = tableId === undefined ? undefined : findShared(caller, directory, tableId);
  if (shared !== undefined) checkShared(caller, shared);
  return shared;
}

const findShared = (
  { accountId }: Caller,
  directory: Lake['directory'],
  tableId: number,
): Dataset | undefined => directory.sharedWith(accountId).get(tableId);

/** @throws Failure Restricted, FreeTierNotAllowed, TierNotAllowed. */
function checkShared(caller: Caller, { access, dataset, workspace }: Dataset): void {
  if (!hasRight(caller.token, workspace, dataset, 'read'))
    throw missingGrantFailure(workspace, dataset, 'read');
  checkTier(caller, access);
}

function checkTier({ tier }: Caller, access: Dataset['access']): void {
  if (access.tier === undefined || reachesTier(tier, access.tier)) return;
  throw new Failure(tier.name === 'free' ? 'FreeTierNotAllowed' : 'TierNotAllowed');
}

/** Datasets that other accounts share with the caller, in one workspace or in all. */
const sharedDatasets = (
  caller: Caller,
  { directory }: Lake,
  workspace?: string,
): readonly Dataset[] =>
  [...directory.sharedWith(caller.accountId).values()].filter((dataset) => {
    if (workspace !== undefined && dataset.workspace !== workspace) return false;
    return isAllowed(() => checkShared(caller, dataset));
  });

function isAllowed(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

/**
 * A workspace in which the caller may read: its own, CORE or `_SYSTEM`.
 * @throws Failure NotFound; Restricted for `_SYSTEM` and a token that does not manage its account.
 */
export const findReadableWorkspace = (caller: Caller, name: string, lake: Lake): Workspace =>
  findWorkspace(caller, name, 'read', lake);

function findWorkspace(caller: Caller, name: string, right: Right, lake: Lake): Workspace {
  const workspace = lake.directory.workspace(name);
  if (workspace?.workspace === CORE && right === 'read') return workspace;
  if (workspace?.workspace === SYSTEM_WORKSPACE && right === 'read') {
    // Logs and charges of production are not part of the test environment.
    if (caller.token.test) throw new Failure('NotFound');
    checkManages(caller);
    return workspace;
  }
  return ownWorkspace(caller, name, lake);
}

/**
 * Checks that an account other than the owner may read a dataset.
 * @throws Failure Restricted, FreeTierNotAllowed, TierNotAllowed, EnterprisePermissionRequired.
 */
export function checkEntitled(
  caller: Caller,
  { access, dataset }: Pick<Dataset, 'access' | 'dataset'>,
  owner: Workspace,
): void {
  const { account, token } = caller;
  if (owner.accountId === caller.accountId || owner.workspace !== CORE) return;
  if (!token.core)
    throw new Failure('Restricted', 'The token may not read workspace CORE: set its member core');
  checkTier(caller, access);
  const premium = account.premiumMessages > 0 && token.premium;
  if (access.level === 'premium' && !premium) throw new Failure('Restricted');
  const granted = isGranted(caller, dataset);
  if (access.level === 'restricted' && !granted) throw new Failure('Restricted');
  if (access.level === 'enterprise' && !granted) throw new Failure('EnterprisePermissionRequired');
}

const isGranted = ({ account }: Caller, dataset: string): boolean =>
  account.grants.some((name) => name.toUpperCase() === dataset.toUpperCase());

/** The account's workspaces, its default one first; CORE belongs to its owner as any other. */
export function ownWorkspaces({ account, accountId }: Caller, lake: Lake): readonly Workspace[] {
  const all = lake.directory.workspaces(accountId);
  const first =
    all.find(({ workspace }) => workspace === account.defaultWorkspace) ??
    all.find(({ workspace }) => workspace !== CORE) ??
    all[0];
  return first === undefined ? [] : [first, ...all.filter((item) => item !== first)];
}

/**
 * The datasets that a token may read: those of one workspace; or those of CORE, of all workspaces of its
 * account, and those shared with the account.
 * @throws Failure NotFound for a workspace of another account.
 */
export function readableDatasets(
  caller: Caller,
  lake: Lake,
  workspace?: string,
): readonly Dataset[] {
  const { directory } = lake;
  const place = workspace === undefined ? undefined : directory.workspace(workspace)?.workspace;
  const shared =
    workspace === undefined || place !== undefined ? sharedDatasets(caller, lake, place) : [];
  if (place !== undefined && shared.length > 0) return shared;
  const core = directory.workspace(CORE);
  const all =
    workspace === undefined
      ? [...new Set([...ownWorkspaces(caller, lake), ...(core === undefined ? [] : [core])])]
      : [findWorkspace(caller, workspace, 'read', lake)];
  const own = all.flatMap((item) =>
    directory.datasets(item.workspace).filter((dataset) => canRead(caller, dataset, item)),
  );
  return [...own, ...shared];
}

function canRead(caller: Caller, dataset: Dataset, owner: Workspace): boolean {
  if (owner.accountId === caller.accountId) {
    const hasGrant = hasRight(caller.token, owner.workspace, dataset.dataset, 'read');
    return hasGrant || isOpenInCore(caller, dataset);
  }
  return isAllowed(() => checkEntitled(caller, dataset, owner));
}

/**
 * The default workspace, where a name without a workspace is resolved. A token without the right learns no
 * names.
 * @throws Failure Restricted.
 */
export function findDefaultWorkspace(
  caller: Caller,
  id: string,
  lake: Lake,
): Workspace | undefined {
  const [first] = ownWorkspaces(caller, lake);
  if (first === undefined || first.workspace === CORE) return first;
  if (hasRight(caller.token, first.workspace, id, 'read')) return first;
  throw new Failure('Restricted', 'The token has no grant to read that of its account');
}

/** `/time-series/{id}`: `WS.ID`, or an id of CORE, or else of the caller's default workspace. */
export function findSeriesDataset(caller: Caller, id: string, lake: Lake): Dataset {
  const dot = id.indexOf('.');
  if (dot > 0) return findDataset(caller, id.slice(0, dot), id.slice(dot + 1), lake);
  const inCore = lake.directory.dataset(CORE, id) !== undefined;
  if (inCore && caller.token.core) return findDataset(caller, CORE, id, lake);
  const first = findDefaultWorkspace(caller, id, lake);
  if (first === undefined) throw new Failure('NotFound');
  return findDataset(caller, first.workspace, id, lake);
}

/** Whether it belongs to another account. Lines of `_SYSTEM` about an account belong to that account. */
export const isForeign = (caller: Caller, { workspace }: Dataset, lake: Lake): boolean =>
  workspace !== SYSTEM_WORKSPACE &&
  lake.directory.workspace(workspace)?.accountId !== caller.accountId;

/** Whether its records cost the caller premium messages. The owner never pays them. */
export const paysPremium = (caller: Caller, dataset: Dataset, lake: Lake): boolean =>
  dataset.access.level === 'premium' &&
  lake.directory.workspace(dataset.workspace)?.accountId !== caller.accountId;

/**
 * A dataset for operations on all its records, such as its versions.
 * @throws Failure NotFound if each account sees only its own records, and as `findDataset`.
 */
export function findWholeDataset(
  caller: Caller,
  workspace: string,
  id: string,
  context: VisibilityContext,
): Dataset {
  const dataset = findDataset(caller, workspace, id, context.lake);
  if (recordVisibility(caller, dataset, context).kind !== 'all') throw new Failure('NotFound');
  return dataset;
}

interface VisibilityContext {
  readonly lake: Lake;
  readonly clock: Clock;
  readonly settings: Pick<Settings, 'zone'>;
}

/** The delay in milliseconds with which a caller sees records; 0 for the owner. */
export function accessDelayMs(caller: Caller, dataset: Dataset, lake: Lake): number {
  const { access, dataset: id, workspace } = dataset;
  if (access.delayMinutes === undefined || !isForeign(caller, dataset, lake)) return 0;
  const isUndelayed = workspace === CORE && isGranted(caller, id);
  return isUndelayed ? 0 : access.delayMinutes * 60_000;
}

/** Which records of a dataset the caller may see. */
export function recordVisibility(
  caller: Caller,
  dataset: Dataset,
  context: VisibilityContext,
): Visibility {
  const { accountId, scrambleSeed, token } = caller;
  // A test token without a seed must not see real data.
  if (token.test && scrambleSeed === undefined) throw new Failure('SystemError');
  const scramble =
    scrambleSeed === undefined ? {} : { scramble: { seed: `${scrambleSeed} ${dataset.tableId}` } };
  if (dataset.workspace !== SYSTEM_WORKSPACE) {
    const delayMs = accessDelayMs(caller, dataset, context.lake);
    if (delayMs === 0) return { kind: 'all', ...scramble };
    const ms = context.clock() - delayMs;
    return { kind: 'before', ms, day: dayIn(ms, context.settings.zone), ...scramble };
  }
  return { kind: 'key', key: accountId, ...scramble };
}
