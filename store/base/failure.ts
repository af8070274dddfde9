// Errors that a caller may receive. Any other error is a bug and is answered with 500.
// Every message is redacted here, so that no token appears in it.
import { redactText } from './redact.ts';

/** The errors of SPEC.md "Errors", one word each, and those that a self-hosted server needs in addition. */
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
  | 'Damaged'
  | 'Gone'
  | 'PriceTooHigh'
  | 'StorageLimit'
  | 'TestReadOnly'
  | 'InvalidParameter'
  | 'InvalidBody'
  | 'SourceFailed'
  | 'EndedTooOften'
  | 'LimitReached'
  | 'Conflict'
  | 'TooLarge'
  | 'TimedOut'
  | 'Busy'
  | 'ChildLost'
  | 'DiskFull';

/**
 * An error for the caller.
 * `detail` is a sentence for a person; it names the parameter and the rule, if there is one.
 * Tokens in it are redacted.
 */
export class Failure extends Error {
  readonly type: FailureType;
  readonly detail: string | undefined;
  /** Time after which a retry may succeed, if known. */
  readonly waitMs: number | undefined;

  constructor(type: FailureType, detail?: string, waitMs?: number) {
    const safeDetail = detail === undefined ? undefined : redactText(detail);
    super(safeDetail === undefined ? type : `${type}: ${safeDetail}`);
    this.name = 'Failure';
    this.type = type;
    this.detail = safeDetail;
    this.waitMs = waitMs;
  }
}

/** An error raised before any record was read: it reveals none, and is not charged. */
export class UnchargedFailure extends Failure {}

/** A process exceeded its memory limit; other requests may have used a part of that memory. */
export class OverMemory extends Failure {
  constructor(bytes: number) {
    super('TooLarge', `the ${bytes} byte memory limit was reached`);
  }
}

/**
 * The catalog or the file store is temporarily unavailable: nothing of the request was done, and a retry may
 * succeed.
 */
export class Unavailable extends Failure {
  constructor(detail: string) {
    super('Busy', detail);
  }
}

/** Whether the worker process was killed, from outside or for its memory: a retry may succeed. */
export const isProcessLost = (error: unknown): boolean =>
  error instanceof OverMemory || (error instanceof Failure && error.type === 'ChildLost');

/** The message of any thrown value, for logs and job reasons. */
export function reasonOf(error: unknown): string {
  if (error instanceof Failure) return error.detail ?? error.type;
  return redactText(error instanceof Error ? error.message : String(error));
}

/** The reason of a failed job or export for its owner: the message of a bug stays in the log. */
export const ownersReason = (error: unknown): string =>
  error instanceof Failure ? reasonOf(error) : 'an error on the server';

/** The end of a sentence that begins with a dataset or a source that a job needs. */
export const NO_LONGER_THERE = 'is not there any more';

/** Whether a write failed because the disk, or the user's quota, is full. */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as { readonly code?: string };
  if (code === 'ENOSPC' || code === 'EDQUOT') return true;
  return /disk is full|No space left on device|disk quota exceeded/i.test(reasonOf(error));
}

/** The reason of work that ends, or does not begin, because the server stops. */
export const SERVER_STOPPING = 'the server is stopping';

/** The error for a folder whose disk is full. */
export const diskFull = (folder: string): Failure =>
  new Failure('DiskFull', `the disk of ${folder} is full: make room`);

/** Converts the error of a full disk into a Failure for the caller; returns any other error unchanged. */
export const toDiskFullFailure = (error: unknown): unknown =>
  isDiskFull(error) ? new Failure('DiskFull', 'the disk is full: nothing was written') : error;
