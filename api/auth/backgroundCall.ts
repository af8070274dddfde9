// Builds calls without a request: rules, jobs and feeds read with the rights of their owner.
import { Readable } from 'node:stream';
import type { Account } from '../../store/accounts/accountRows.ts';
import type { Caller } from '../../store/accounts/callers.ts';
import { DEFAULT_SETTINGS } from '../../store/accounts/tokens.ts';
import type { Call } from '../request/endpoint.ts';

export const backgroundCall = (caller: Caller): Call => ({
  requestId: '',
  endpoint: 'rule',
  environment: 'production',
  bodiless: false,
  caller,
  actor: caller.tokenId,
  checkBody: undefined,
  path: {},
  query: {},
  json: undefined,
  stream: Readable.from([]),
  contentLength: undefined,
  accept: '',
  navigates: false,
  ifNoneMatch: '',
  range: '',
  ifRange: '',
  address: '',
  lastEventId: '',
  idempotencyKey: '',
  identifyCaller: () => caller,
  atEnd: () => undefined,
  testCursors: undefined,
  departure: () => new AbortController().signal,
});

/** The account itself as a caller, without the limits of a token. */
export function ownerCaller(account: Account, accountId: string): Caller {
  const tokenId = 'source';
  const settings = { ...DEFAULT_SETTINGS, tokenId, accountId, test: false, signed: false };
  const token = { ...settings, kind: 'secret', createdMs: 0, lastUsedMs: undefined } as const;
  return { accountId, tokenId, kind: 'secret', tier: account.tier, account, token };
}
