// Signs a request as SPEC.md "Authentication" 6 requires of a client, in separate code: nothing is
// shared with the server that checks it.
import { createHash, createHmac } from 'node:crypto';

/** A request with its token in the query. */
interface Unsigned {
  readonly method: string;
  /** Path and query as they are sent. */
  readonly target: string;
  readonly host: string;
  readonly body: Uint8Array;
}

/** The two headers; the format of `date` is `YYYYMMDDTHHMMSSZ`. */
export function signatureHeaders(
  { method, target, host, body }: Unsigned,
  secret: string,
  date: string,
): Readonly<Record<string, string>> {
  const { pathname, searchParams } = new URL(target, 'http://any');
  const token = searchParams.get('token') ?? '';
  const day = date.slice(0, 8);
  const headers = `host:${host}\nx-svc-date:${date}\n`;
  const names = 'host;x-svc-date';
  const canonical = [method, pathname, `token=${token}`, headers, names, hash(body)].join('\n');
  const scope = `${day}/svc_request`;
  const toSign = ['SVC-HMAC-SHA256', date, scope, hash(canonical)].join('\n');
  const signature = hmac(hmac(hmac(secret, day), 'svc_request'), toSign);
  const claims = `Credential=${token}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { 'x-svc-date': date, authorization: `SVC-HMAC-SHA256 ${claims}` };
}

/** A date in the format of the header `x-svc-date`. */
export const signatureDate = (date: Date): string =>
  date.toISOString().replaceAll(/[-:]|\.\d+/g, '');

const hash = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');

const hmac = (key: string, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex');
