// How a failure looks to a caller. The sentences are an interface: clients compare them
// (INTERFACE.md 0.1); workspace routes answer JSON, and RFC 9457 comes when it is asked for.
import { Failure, type FailureType } from '../../store/base/failure.ts';
import { randomHex } from '../../store/base/random.ts';

interface Told {
  readonly status: number;
  readonly text: string;
}

const QUOTA =
  'You have exceeded your allotted message quota. Please enable pay-as-you-go to regain access';

/** Every failure's HTTP status and sentence (SPEC.md "Errors"; texts of INTERFACE.md 0.1). */
export const FAILURES: Readonly<Record<FailureType, Told>> = {
  IncorrectValues: { status: 400, text: 'You have supplied invalid values for this request' },
  NoSymbol: { status: 400, text: 'No symbol provided' },
  TypeRequired: { status: 400, text: 'A valid value of types is required' },
  AuthorizationRestricted: { status: 401, text: 'Hashed authorization is restricted' },
  AuthorizationRequired: { status: 401, text: 'Hashed authorization is required' },
  Restricted: {
    status: 401,
    text: 'The requested data is marked restricted and the account does not have access.',
  },
  NoKey: {
    status: 401,
    text: 'An API key is required to access this data and no key was provided',
  },
  SecretKeyRequired: { status: 401, text: 'The secret key is required to access this endpoint' },
  DeniedReferer: { status: 401, text: 'The referer of this request is not allowed' },
  OverLimit: { status: 402, text: QUOTA },
  FreeTierNotAllowed: {
    status: 402,
    text:
      'The requested data is not available to free tier accounts. ' +
      'Please upgrade for access to this data.',
  },
  TierNotAllowed: {
    status: 402,
    text: 'The requested data is not available to your current tier.',
  },
  AuthorizationInvalid: { status: 403, text: 'Hashed authorization is invalid' },
  DisabledKey: { status: 403, text: 'The API key provided has been disabled' },
  InvalidKey: { status: 403, text: 'The API key provided is not valid.' },
  TestTokenInProduction: {
    status: 403,
    text: 'Test tokens may only be used in the sandbox environment.',
  },
  ProductionTokenInSandbox: {
    status: 403,
    text: 'Production tokens cannot be used in the sandbox environment.',
  },
  CircuitBreaker: {
    status: 403,
    text: 'The pay-as-you-go circuit breaker is engaged and further requests are not allowed',
  },
  Inactive: { status: 403, text: 'The account is inactive' },
  UnknownSymbol: { status: 404, text: 'Unknown symbol' },
  NotFound: { status: 404, text: 'Not Found' },
  MaxTypes: { status: 413, text: 'Maximum of 10 types allowed' },
  TooManyRequests: { status: 429, text: 'Too Many Requests' },
  EnterprisePermissionRequired: {
    status: 451,
    text: 'The requested data requires permission to access.',
  },
  SystemError: { status: 500, text: 'System Error' },
  Damaged: { status: 500, text: 'A stored file is damaged' },
  Gone: { status: 410, text: 'The version that was asked for has ended' },
  PriceTooHigh: { status: 402, text: 'The call costs more messages than it was allowed' },
  StorageLimit: { status: 402, text: 'The workspace stores as much as its tier allows' },
  TestReadOnly: { status: 403, text: 'The test environment changes nothing' },
  InvalidParameter: { status: 400, text: 'You have supplied invalid values for this request' },
  InvalidBody: { status: 400, text: 'You have supplied invalid values for this request' },
  // What a source answers is not the caller's fault, but it is what was asked for: clients know 400.
  SourceFailed: { status: 400, text: 'You have supplied invalid values for this request' },
  EndedTooOften: { status: 400, text: 'You have supplied invalid values for this request' },
  LimitReached: { status: 400, text: 'You have supplied invalid values for this request' },
  Conflict: { status: 409, text: 'The resource exists already' },
  TooLarge: { status: 413, text: 'The request or its answer is too large' },
  TimedOut: { status: 504, text: 'The request took too long' },
  Busy: { status: 503, text: 'The server is busy, please try again' },
  DiskFull: { status: 507, text: 'The disk is full, nothing was written' },
  ChildLost: { status: 503, text: 'The query process was lost, please try again' },
};

/** Failures whose plain sentence clients compare, on every kind of route. */
const PLAIN = new Set<FailureType>([
  'NoKey',
  'InvalidKey',
  'DisabledKey',
  'SecretKeyRequired',
  'OverLimit',
  'NotFound',
  'UnknownSymbol',
  'SystemError',
  'TooManyRequests',
  'Inactive',
  'CircuitBreaker',
  'AuthorizationRequired',
  'AuthorizationRestricted',
  'AuthorizationInvalid',
  'Restricted',
  'DeniedReferer',
  'FreeTierNotAllowed',
  'TierNotAllowed',
  'EnterprisePermissionRequired',
  'TestTokenInProduction',
  'ProductionTokenInSandbox',
]);

interface FailureAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** How the route's callers expect failures: plain data routes or workspace routes. */
export type FailureStyle = 'data' | 'workspace';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Their plain sentences stay as they are, and what to do stands behind them. */
const ADVISED: ReadonlySet<FailureType> = new Set(['Restricted']);

/** Their plain sentences are the original's, and name nothing. */
const UNNAMED: ReadonlySet<FailureType> = new Set(['NotFound', 'UnknownSymbol']);

/**
 * Anything that is no Failure is a bug: 500, with nothing of it told.
 * @param asked what a problem says of what was not found
 */
export function failureAnswer(
  error: unknown,
  style: FailureStyle,
  accept: string,
  requestId: string,
  asked: () => string,
): FailureAnswer {
  const failure = error instanceof Failure ? error : new Failure('SystemError');
  const { status, text } = FAILURES[failure.type];
  const detail = failure.type === 'SystemError' ? text : (failure.detail ?? text);
  if (accept.includes('application/problem+json')) {
    const type = `urn:tapedeck:failure:${failure.type}`;
    const told = UNNAMED.has(failure.type) ? (failure.detail ?? asked()) : detail;
    const body = JSON.stringify({ type, title: text, status, detail: told, instance: requestId });
    return { status, contentType: 'application/problem+json; charset=utf-8', body };
  }
  if (PLAIN.has(failure.type)) {
    const isAdvice = ADVISED.has(failure.type) && failure.detail !== undefined;
    return asSentence(status, isAdvice ? `${text} ${detail}.` : detail);
  }
  if (style === 'workspace') {
    const message = `${detail} (${randomHex(7).toUpperCase()})`;
    return { status, contentType: JSON_TYPE, body: JSON.stringify({ success: false, message }) };
  }
  if (failure.type === 'InvalidParameter') {
    return { status, contentType: JSON_TYPE, body: JSON.stringify({ error: detail }) };
  }
  return asSentence(status, detail);
}

/**
 * Clients compare these sentences, and the original's type; what a caller sent never becomes markup in
 * them.
 */
const asSentence = (status: number, detail: string): FailureAnswer => ({
  status,
  contentType: 'text/html; charset=utf-8',
  body: detail.replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
});
