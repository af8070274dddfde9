// Reads the token of a request: from the query, a JSON body or an Authorization header (SPEC.md
// "Authentication").
import type { IncomingHttpHeaders } from 'node:http';

/** Characters of a token; a longer text is invalid and is not hashed. */
const TOKEN_MAX = 256;

export function readToken(
  query: Readonly<Record<string, unknown>>,
  headers: IncomingHttpHeaders,
  json: unknown,
): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const token = [query['token'], bearer, tokenMember(json)].find(
    (value) => typeof value === 'string' && value !== '',
  );
  return typeof token === 'string' ? token.slice(0, TOKEN_MAX) : undefined;
}

function tokenMember(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, 'token')) return undefined;
  return (json as { readonly token: unknown }).token;
}

/** Removes the token from a JSON body. */
export function withoutToken(json: unknown): unknown {
  if (tokenMember(json) === undefined || Array.isArray(json)) return json;
  const { token: _, ...rest } = json as Readonly<Record<string, unknown>>;
  return rest;
}
