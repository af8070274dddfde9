// The client side of a signed request, for tests that need one at a certain second.
import { createHash, createHmac } from 'node:crypto';

const hmac = (key: string, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex');

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Headers of a request signed with the token-only form of the query, or with `query`. */
export function signedHeaders(
  method: string,
  url: URL,
  body: string,
  token: string,
  secret: string,
  at: Date,
  query = `token=${token}`,
): Record<string, string> {
  const date = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = date.slice(0, 8);
  const scope = `${day}/svc_request`;
  const headers = `host:${url.host}\nx-svc-date:${date}\n`;
  const names = 'host;x-svc-date';
  const canonical = [method, url.pathname, query, headers, names, sha(body)].join('\n');
  const toSign = ['SVC-HMAC-SHA256', date, scope, sha(canonical)].join('\n');
  const signature = hmac(hmac(hmac(secret, day), 'svc_request'), toSign);
  const credential = `Credential=${token}/${scope}`;
  return {
    'x-svc-date': date,
    authorization: `SVC-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}`,
  };
}
