// Assigns files to accounts below a folder that the operator opened to sources or to exports: an account's
// files are in the folder of its id. The first account, the operator's own, has the rest of the folder.
import { join, sep } from 'node:path';

export interface AccountFolders {
  /** The account whose folder is the opened one itself; undefined if there is none. */
  readonly firstAccountId: string | undefined;
}

const ACCOUNT = /^[0-9a-f]{16}$/i;

/** The folder of an account's files. @param opened the operator's folder */
export const findAccountFolder = (
  opened: string,
  accountId: string,
  { firstAccountId }: AccountFolders,
): string => (accountId === firstAccountId ? opened : join(opened, accountId));

/** Whether a path in the folder of `accountId` belongs to another account. */
export function isOtherAccounts(
  path: string,
  accountId: string,
  { firstAccountId }: AccountFolders,
): boolean {
  const [name = ''] = path.split(/[\\/]/, 1);
  return accountId === firstAccountId && ACCOUNT.test(name) && name.toLowerCase() !== accountId;
}

/** Whether a path without links is a folder or below it. */
export const isWithin = (inner: string, outer: string): boolean =>
  inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);
