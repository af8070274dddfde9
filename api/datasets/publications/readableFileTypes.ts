// Finds file types that a caller may read, by the access rules of a dataset of that name and workspace.
import type { Caller } from '../../../store/accounts/callers.ts';
import { Failure } from '../../../store/base/failure.ts';
import { CORE } from '../../../store/lake/datasets/datasets.ts';
import {
  type FileType,
  findFileType,
  listFileTypes,
} from '../../../store/publications/fileTypes.ts';
import {
  checkEntitled,
  findDefaultWorkspace,
  ownWorkspaces,
  findDatasetWorkspace,
} from '../../../reads/rights/access.ts';
import type { Services } from '../../request/endpoint.ts';

type ReadableServices = Pick<Services, 'database' | 'lake'>;

/** A file type with the id by which the caller requests it. */
export interface ReadableFileType {
  readonly id: string;
  readonly type: FileType;
}

/**
 * Resolves `WORKSPACE.ID`, or an id of CORE, or else of the caller's default workspace, as for time series.
 * @throws Failure NotFound, Restricted, as `checkEntitled`.
 */
export async function resolveFileType(
  caller: Caller,
  id: string,
  services: ReadableServices,
): Promise<FileType> {
  const { database, lake } = services;
  const dot = id.indexOf('.');
  if (dot > 0) return findReadableType(caller, id.slice(0, dot), id.slice(dot + 1), services);
  const inCore = caller.token.core && (await findFileType(database, CORE, id)) !== undefined;
  const place = inCore ? CORE : findDefaultWorkspace(caller, id, lake)?.workspace;
  if (place === undefined) throw new Failure('NotFound');
  return findReadableType(caller, place, id, services);
}

async function findReadableType(
  caller: Caller,
  place: string,
  name: string,
  { database, lake }: ReadableServices,
): Promise<FileType> {
  const owner = findDatasetWorkspace(caller, place, name, lake);
  const type = await findFileType(database, owner.workspace, name);
  if (type === undefined) throw new Failure('NotFound');
  checkEntitled(caller, { access: type.access, dataset: type.name }, owner);
  return type;
}

/** All file types that a token may read: those of CORE, then those of its account. */
export async function readableFileTypes(
  caller: Caller,
  { database, lake }: ReadableServices,
): Promise<readonly ReadableFileType[]> {
  const core = lake.directory.workspace(CORE);
  const own = ownWorkspaces(caller, lake);
  const places = [...new Set([...(core === undefined ? [] : [core]), ...own])];
  const bareNames = new Set<string>();
  const readable: ReadableFileType[] = [];
  for (const { workspace } of places) {
    for (const type of await listFileTypes(database, workspace)) {
      if (!canRead(caller, type, lake)) continue;
      const name = type.name.toUpperCase();
      const isBare =
        (workspace === CORE && caller.token.core) ||
        (workspace === own[0]?.workspace && !bareNames.has(name));
      if (isBare) bareNames.add(name);
      readable.push({ id: isBare ? type.name : `${workspace}.${type.name}`, type });
    }
  }
  return readable;
}

function canRead(caller: Caller, type: FileType, lake: Services['lake']): boolean {
  try {
    const owner = findDatasetWorkspace(caller, type.workspace, type.name, lake);
    checkEntitled(caller, { access: type.access, dataset: type.name }, owner);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

/** Whether a download costs the caller premium messages. The owner never pays them. */
export const paysPremiumFor = (caller: Caller, type: FileType, lake: Services['lake']): boolean =>
  type.access.level === 'premium' &&
  lake.directory.workspace(type.workspace)?.accountId !== caller.accountId;
