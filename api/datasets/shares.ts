// Checks the accounts with which an owner shares a dataset.
import { CORE, type Share, type Workspace } from '../../store/lake/datasets/datasets.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Services } from '../request/endpoint.ts';

/** @throws Failure InvalidBody naming the account and the rule. */
export function checkShares(
  access: { readonly accounts?: readonly Share[] } | undefined,
  { accountId, workspace }: Pick<Workspace, 'accountId' | 'workspace'>,
  { accounts }: Pick<Services, 'accounts'>,
): void {
  const shares = access?.accounts;
  if (shares === undefined) return;
  const refuse = (rule: string): never => {
    throw new Failure('InvalidBody', `access.accounts ${rule}`);
  };
  if (workspace === CORE) {
    refuse('are not for CORE: all accounts read it, within its level, tier and grants');
  }
  const seen = new Set<string>();
  for (const { accountId: other } of shares) {
    if (seen.has(other)) refuse(`names ${other} twice`);
    if (other === accountId) refuse(`names ${other}, the owner, who reads it anyway`);
    if (accounts.account(other) === undefined) refuse(`names ${other}: there is no such account`);
    seen.add(other);
  }
}
