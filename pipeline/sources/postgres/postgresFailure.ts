// Describes failures of PostgreSQL and of the connection to it.
import { Failure, reasonOf } from '../../../store/base/failure.ts';
import { networkFailure } from '../base/outgoingFailure.ts';
import { SourceFailure } from '../base/source.ts';

/**
 * Classes of SQLSTATE that a retry may avoid: connection, rollback by conflict, resources,
 * lock not available, operator intervention (with timeouts), system.
 */
const TRANSIENT = /^(?:08|25P0[34]|40|53|55P03|57|58)/;
/** Errors of the client: the connection ended without an error of the server. */
const LOST_CONNECTION =
  /^Connection terminated|^timeout expired|^Client (?:was closed|has encountered)/;

interface PostgresError {
  readonly code?: string;
  /** Set only by errors of the server. */
  readonly severity?: string;
}

export function toPostgresFailure(error: unknown, host: string): unknown {
  if (error instanceof Failure) return error;
  const { code = '', severity } = error as PostgresError;
  const reason = reasonOf(error);
  if (severity !== undefined) {
    return new SourceFailure(`PostgreSQL: ${reason}`, TRANSIENT.test(code));
  }
  if (LOST_CONNECTION.test(reason))
    return new SourceFailure(`${host} closed the connection or is not there`, true);
  if (/SSL/.test(reason) && code === '') {
    return new SourceFailure(
      `${host}: ${reason}; set "tls": "off" in its credential for a server without TLS`,
      false,
    );
  }
  return networkFailure(error, host) ?? error;
}
