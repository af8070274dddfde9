// Renders failures for callers. The messages are an interface: clients compare them (INTERFACE.md 0.1).
// Workspace routes return JSON, and the Accept header can request RFC 9457.
import { Failure, type FailureType } from '../../store/base/failure.ts';
import { randomHex } from '../../store/base/random.ts';

interface FailureText {
  readonly status: number;
  readonly text: string;
}

const INVALID_VALUES = 'You have supplied invalid values for this request';
const QUOTA =
  'You have exceeded your allotted message quota. Please enable pay-as-you-go to regain access';

/** Every failure's HTTP status and message (SPEC.md "Errors"; texts of INTERFACE.md 0.1). */
export const FAILURES: Readonly<Record<FailureType, FailureText>> = {
  IncorrectValues: { status: 400, text: INVALID_VALUES },
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
  Gone: { status: 410, text: 'The requested version has expired' },
  PriceTooHigh: { status: 402, text: 'The call costs more messages than it was allowed' },
  StorageLimit: { status: 402, text: 'The workspace stores as much as its tier allows' },
  TestReadOnly: { status: 403, text: 'The test environment changes nothing' },
  InvalidParameter: { status: 400, text: INVALID_VALUES },
  InvalidBody: { status: 400, text: INVALID_VALUES },
  // A failing source is not the caller's fault, but clients expect 400.
  SourceFailed: { status: 400, text: INVALID_VALUES },
  EndedTooOften: { status: 400, text: INVALID_VALUES },
  LimitReached: { status: 400, text: INVALID_VALUES },
  Conflict: { status: 409, text: 'The resource exists already' },
  TooLarge: { status: 413, text: 'The request or its answer is too large' },
  TimedOut: { status: 504, text: 'The request took too long' },
  Busy: { status: 503, text: 'The server is busy, please try again' },
  DiskFull: { status: 507, text: 'The disk is full, nothing was written' },
  ChildLost: { status: 503, text: 'The query process was lost, please try again' },
};

/** Failures whose plain message clients compare, on every kind of route. */
const PLAIN_FAILURES = new Set<FailureType>([
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

/** The form of failures: of plain data routes or of workspace routes. */
export type FailureStyle = 'data' | 'workspace';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Failures whose plain message is followed by advice. */
const ADVISED_FAILURES: ReadonlySet<FailureType> = new Set(['Restricted']);

/** Failures whose plain message is the original's and names no resource. */
const UNNAMED_FAILURES: ReadonlySet<FailureType> = new Set(['NotFound', 'UnknownSymbol']);

/**
 * Renders a failure; an error that is no Failure is a bug and returns 500 without details.
 * @param describeMissing describes what was not found, for the problem form
 */
export function renderFailure(
  error: unknown,
  style: FailureStyle,
  accept: string,
  requestId: string,
  describeMissing: () => string,
): FailureAnswer {
  const failure = error instanceof Failure ? error : new Failure('SystemError');
  const { status, text } = FAILURES[failure.type];
  const detail = failure.type === 'SystemError' ? text : (failure.detail ?? text);
  if (accept.includes('application/problem+json')) {
    const type = `urn:tapedeck:failure:${failure.type}`;
    const problemDetail = UNNAMED_FAILURES.has(failure.type)
      ? (failure.detail ?? describeMissing())
      : detail;
    const body = JSON.stringify({
      type,
      title: text,
      status,
      detail: problemDetail,
      instance: requestId,
    });
    return { status, contentType: 'application/problem+json; charset=utf-8', body };
  }
  if (PLAIN_FAILURES.has(failure.type)) {
    const isAdvice = ADVISED_FAILURES.has(failure.type) && failure.detail !== undefined;
    return toPlainAnswer(status, isAdvice ? `${text} ${detail}.` : detail);
  }
  if (style === 'workspace') {
    const message = `${detail} (${randomHex(7).toUpperCase()})`;
    return { status, contentType: JSON_TYPE, body: JSON.stringify({ success: false, message }) };
  }
  if (failure.type === 'InvalidParameter') {
    return { status, contentType: JSON_TYPE, body: JSON.stringify({ error: detail }) };
  }
  return toPlainAnswer(status, detail);
}

/**
 * Renders a plain message with the original's content type, which clients compare; text of a caller never
 * becomes markup.
 */
const toPlainAnswer = (status: number, detail: string): FailureAnswer => ({
  status,
  contentType: 'text/html; charset=utf-8',
  body: detail.replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
});
