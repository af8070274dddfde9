// Requests of the server itself: rules, jobs and feeds read with the rights of their owner.
import type { Account } from '../../store/accounts/accountRows.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { DEFAULT_SETTINGS } from '../../store/accounts/tokens.ts';
import { StageTimes } from '../request/stages.ts';
import type { ReadRequest } from '../request/readRequest.ts';

export const backgroundRequest = (caller: Caller): ReadRequest => ({
  requestId: '',
  endpoint: 'rule',
  environment: 'production',
  bodiless: false,
  caller,
  path: {},
  query: {},
  json: undefined,
  accept: '',
  navigates: false,
  ifNoneMatch: '',
  identifyCaller: () => caller,
  atEnd: () => undefined,
  testCursors: undefined,
  stages: new StageTimes(),
  departure: () => new AbortController().signal,
});

/** The account itself as a caller, without the limits of a token. */
export function ownerCaller(account: Account, accountId: string): Caller {
  const tokenId = 'source';
  const settings = { ...DEFAULT_SETTINGS, tokenId, accountId, test: false, signed: false };
  const token = { ...settings, kind: 'secret', createdMs: 0, lastUsedMs: undefined } as const;
  return { accountId, tokenId, kind: 'secret', tier: account.tier, account, token };
}
