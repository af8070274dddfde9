// A call that nobody made: what a rule reads is read by the rights of its owner, long after its request.
import { Readable } from 'node:stream';
import type { Caller } from '../../store/accounts/callers.ts';
import type { Call } from '../request/endpoint.ts';

export const callOf = (caller: Caller): Call => ({
  ...{ requestId: '', endpoint: 'rule', environment: 'production', bodiless: false },
  ...{ caller, actor: caller.tokenId, checkBody: undefined, path: {}, query: {}, json: undefined },
  ...{ stream: Readable.from([]), contentLength: undefined, accept: '', navigates: false },
  ...{ ifNoneMatch: '', range: '', ifRange: '', address: '', lastEventId: '' },
  identified: () => caller,
  atEnd: () => undefined,
  testCursors: undefined,
  departure: () => new AbortController().signal,
});
