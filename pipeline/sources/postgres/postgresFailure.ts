// What PostgreSQL, or the way to it, answered instead.
import { Failure, reasonOf } from '../../../store/base/failure.ts';
import { networkFailure } from '../base/outgoingFailure.ts';
import { SourceFailure } from '../base/source.ts';

/**
 * Classes of SQLSTATE that the next try may not meet: connection, rollback by conflict, resources,
 * lock not had, operator's intervention (with time limits), system.
 */
const TRANSIENT = /^(?:08|25P0[34]|40|53|55P03|57|58)/;
/** Of the client: the connection went without a word of the server. */
const GONE = /^Connection terminated|^timeout expired|^Client (?:was closed|has encountered)/;

interface Told {
  readonly code?: string;
  /** Only errors of the server have one. */
  readonly severity?: string;
}

export function postgresFailureOf(error: unknown, host: string): unknown {
  if (error instanceof Failure) return error;
  const { code = '', severity } = error as Told;
  const reason = reasonOf(error);
  if (severity !== undefined) {
    return new SourceFailure(`PostgreSQL: ${reason}`, TRANSIENT.test(code));
  }
  if (GONE.test(reason))
    return new SourceFailure(`${host} closed the connection or is not there`, true);
  if (/SSL/.test(reason) && code === '') {
    return new SourceFailure(`${host}: ${reason}; its credential may say "tls": "off"`, false);
  }
  return networkFailure(error, host) ?? error;
}
