// Where a token may stand: the query, a JSON body, an Authorization header (SPEC.md
// "Authentication").
import type { IncomingHttpHeaders } from 'node:http';

/** Characters of a token; a longer text is none of ours and is not hashed. */
const TOKEN_MAX = 256;

export function tokenOf(
  query: Readonly<Record<string, unknown>>,
  headers: IncomingHttpHeaders,
  json: unknown,
): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const found = [query['token'], bearer, memberOf(json)].find(
    (value) => typeof value === 'string' && value !== '',
  );
  return typeof found === 'string' ? found.slice(0, TOKEN_MAX) : undefined;
}

function memberOf(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, 'token')) return undefined;
  return (json as { readonly token: unknown }).token;
}

/** A JSON body without the token that the request carries in it. */
export function withoutToken(json: unknown): unknown {
  if (memberOf(json) === undefined || Array.isArray(json)) return json;
  const { token: _, ...rest } = json as Readonly<Record<string, unknown>>;
  return rest;
}
