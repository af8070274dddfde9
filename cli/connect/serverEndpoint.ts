// Sends requests to a server. Pins the certificate of the server of the data folder; trusts other servers as
// every client does.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';
import { http, loadHttps } from '../../store/base/http.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Settings } from '../../store/base/settings/settings.ts';

export interface ServerEndpoint {
  /** `https://host:port`, without a version. */
  readonly base: string;
  /** PEM of authorities, or of the certificate itself. */
  readonly ca?: string;
  /** Its certificate is pinned, so its name is not checked. */
  readonly isPinned?: boolean;
}

/** Hashes an operator's token for the server file, which must not contain the token. */
export const fingerprintOf = (token: string): string =>
  createHash('sha256').update(token).digest('hex');

/** Returns the server of `--server`; undefined without one. @throws Failure InvalidParameter. */
export function namedServer({
  ca,
  server,
}: Pick<Settings, 'ca' | 'server'>): ServerEndpoint | undefined {
  if (server === '') return undefined;
  if (!URL.canParse(server) || !/^https?:\/\/[^/]+\/?$/i.test(server)) {
    const rule = 'must be http:// or https://, a host and a port';
    throw new Failure('InvalidParameter', `--server (TAPEDECK_SERVER) ${rule}`);
  }
  const base = server.replace(/\/$/, '');
  return ca === '' ? { base } : { base, ca: readPem(ca) };
}

export function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new Failure('InvalidParameter', `the certificate ${path} can not be read`);
  }
}

/** Sends a request without a timeout: `fetch` gives up after five minutes, and a query may take as long. */
export function openRequest(
  { base, ca, isPinned }: ServerEndpoint,
  path: string,
  options: Pick<RequestOptions, 'method' | 'headers' | 'signal'>,
  answered: (answer: IncomingMessage) => void,
): ClientRequest {
  const url = `${base}${path}`;
  if (!url.startsWith('https:')) return http.request(url, options, answered);
  const trust = {
    ...(ca === undefined ? {} : { ca }),
    ...(isPinned === true ? { checkServerIdentity: () => undefined } : {}),
  };
  return loadHttps().request(url, { ...options, ...trust }, answered);
}

/** Converts a connection error to a failure for the user. */
export function toConnectionFailure(error: unknown, { base }: ServerEndpoint): Failure {
  if (error instanceof Failure) return error;
  const { code = '', message = '' } = error as {
    readonly code?: string;
    readonly message?: string;
  };
  const why = REASONS[code] ?? message;
  return new Failure('InvalidParameter', `${base} can not be reached: ${why}`);
}

const UNKNOWN_AUTHORITY = 'an unknown authority signed its certificate';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its host is unknown',
  ETIMEDOUT: 'it does not answer',
  ECONNRESET: 'it closed the connection',
  EPROTO: 'it does not speak TLS: try http://',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed: pass it with --ca',
  SELF_SIGNED_CERT_IN_CHAIN: `${UNKNOWN_AUTHORITY}: pass the authority with --ca`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `${UNKNOWN_AUTHORITY}: pass it with --ca`,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  CERT_HAS_EXPIRED: 'its certificate has expired, or the clock here is wrong',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet, or the clock here is wrong',
};
