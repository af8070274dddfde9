// What can go wrong for a caller. Anything that is not a `Failure` is a bug and answers 500.
// Sentences are made here and read everywhere, so that no token gets past here.
import { redacted } from './redact.ts';

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
 * A refusal meant for the caller.
 * `detail` is a sentence for a person; it names the parameter and the rule where there is one.
 * A token that stands in it is hidden.
 */
export class Failure extends Error {
  readonly type: FailureType;
  readonly detail: string | undefined;
  /** After which another try may go well, where that is known. */
  readonly waitMs: number | undefined;

  constructor(type: FailureType, detail?: string, waitMs?: number) {
    const told = detail === undefined ? undefined : redacted(detail);
    super(told === undefined ? type : `${type}: ${told}`);
    this.name = 'Failure';
    this.type = type;
    this.detail = told;
    this.waitMs = waitMs;
  }
}

/** A refusal that came before a record was read: it tells of none, and costs nothing. */
export class NothingRead extends Failure {}

/** A process took more memory than it may, of which others may have had a part. */
export class OverMemory extends Failure {
  constructor(bytes: number) {
    super('TooLarge', `the ${bytes} byte memory limit was reached`);
  }
}

/**
 * The catalog, or the store of the files, is not there for now: nothing of what was asked was done, and
 * another try may go well.
 */
export class Away extends Failure {
  constructor(detail: string) {
    super('Busy', detail);
  }
}

/** The process that worked was killed, from outside or for its memory: another try may go well. */
export const isLost = (error: unknown): boolean =>
  error instanceof OverMemory || (error instanceof Failure && error.type === 'ChildLost');

/** The sentence of any thrown thing, for logs and job reasons. */
export function reasonOf(error: unknown): string {
  if (error instanceof Failure) return error.detail ?? error.type;
  return redacted(error instanceof Error ? error.message : String(error));
}

/** True when a write failed because the disk, or the user's share of it, is full. */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as { readonly code?: string };
  if (code === 'ENOSPC' || code === 'EDQUOT') return true;
  return /disk is full|No space left on device|disk quota exceeded/i.test(reasonOf(error));
}

/** What holds a folder up whose disk has no room at all. */
export const diskFull = (folder: string): Failure =>
  new Failure('DiskFull', `the disk of ${folder} is full: make room`);

/** A write that a full disk refused, as the caller is told it; anything else as it was. */
export const toldFull = (error: unknown): unknown =>
  isDiskFull(error) ? new Failure('DiskFull', 'the disk is full: nothing was written') : error;
