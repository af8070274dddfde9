// What can go wrong for a caller. Anything that is not a `Failure` is a bug and answers 500.

/** SPEC.md "Errors", one word each, plus what a self-hosted server must be able to say. */
export type FailureType =
  | 'IncorrectValues'
  | 'NoSymbol'
  | 'TypeRequired'
  | 'AuthorizationRestricted'
  | 'AuthorizationRequired'
  | 'Restricted'
  | 'NoKey'
  | 'SecretKeyRequired'
  | 'DeniedReferer'
  | 'OverLimit'
  | 'FreeTierNotAllowed'
  | 'TierNotAllowed'
  | 'AuthorizationInvalid'
  | 'DisabledKey'
  | 'InvalidKey'
  | 'TestTokenInProduction'
  | 'ProductionTokenInSandbox'
  | 'CircuitBreaker'
  | 'Inactive'
  | 'UnknownSymbol'
  | 'NotFound'
  | 'MaxTypes'
  | 'TooManyRequests'
  | 'EnterprisePermissionRequired'
  | 'SystemError'
  | 'InvalidParameter'
  | 'InvalidBody'
  | 'Conflict'
  | 'TooLarge'
  | 'TimedOut'
  | 'Busy'
  | 'ChildLost';

/**
 * A refusal meant for the caller.
 * `detail` is a sentence for a person; it names the parameter and the rule where there is one.
 */
export class Failure extends Error {
  readonly type: FailureType;
  readonly detail: string | undefined;

  constructor(type: FailureType, detail?: string) {
    super(detail === undefined ? type : `${type}: ${detail}`);
    this.name = 'Failure';
    this.type = type;
    this.detail = detail;
  }
}

/** The sentence of any thrown thing, for logs and job reasons. */
export function reasonOf(error: unknown): string {
  if (error instanceof Failure) return error.detail ?? error.type;
  return error instanceof Error ? error.message : String(error);
}
