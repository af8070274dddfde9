// Describes network failures, and decides whether a retry may succeed.
import { lookupTable } from '../../../store/base/lookupTable.ts';
import { Failure, reasonOf } from '../../../store/base/failure.ts';
import { SourceFailure } from './source.ts';

const EARLY_CLOSE = 'closed the connection before the end';

/** Error codes of sockets and of the HTTP client that a retry may avoid. */
const TRANSIENT = lookupTable<string>({
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'closed the connection',
  EPIPE: 'closed the connection',
  ECONNABORTED: 'closed the connection',
  UND_ERR_SOCKET: EARLY_CLOSE,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: EARLY_CLOSE,
  UND_ERR_ABORTED: EARLY_CLOSE,
  ETIMEDOUT: 'does not answer',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  EAI_AGAIN: 'cannot be resolved now',
  UND_ERR_CONNECT_TIMEOUT: 'does not answer',
  UND_ERR_HEADERS_TIMEOUT: 'does not answer in time',
  UND_ERR_BODY_TIMEOUT: 'stopped in the middle of its answer',
  // From zlib: the encoded stream ends before its mark.
  Z_BUF_ERROR: 'sent a body that is cut short',
});

const PERMANENT = lookupTable<string>({
  Z_DATA_ERROR: 'sent a body that is not in its declared encoding',
  UND_ERR_HEADERS_OVERFLOW: 'sent too many headers',
});

/** TLS errors: an invalid certificate, or no TLS at the port. */
const TLS = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO/;

/** The error to report: the reason of the signal that stopped it, or a failure with a description. */
export function toSourceFailure(error: unknown, host: string, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof Failure) return error;
  return networkFailure(error, host) ?? error;
}

interface Coded {
  readonly code: string;
  readonly name: string;
  readonly cause: unknown;
}

/** Undefined if `error` is not a network error. */
export function networkFailure(error: unknown, host: string): SourceFailure | undefined {
  const { code = '', name, cause } = error as Partial<Coded>;
  const transient = TRANSIENT[code];
  if (transient !== undefined) return new SourceFailure(`${host} ${transient}`, true);
  const permanent = PERMANENT[code];
  if (permanent !== undefined) return new SourceFailure(`${host} ${permanent}`, false);
  if (TLS.test(code)) return new SourceFailure(`${host}: TLS failed: ${reasonOf(error)}`, false);
  if (code.startsWith('HPE_') || name === 'HTTPParserError')
    return new SourceFailure(`${host} does not answer in HTTP`, false);
  if (/^(?:Z_|ERR__ERROR|ZSTD)/.test(code)) {
    return new SourceFailure(`${host} sent a body that cannot be decoded: ${code}`, false);
  }
  return cause === undefined ? undefined : networkFailure(cause, host);
}
