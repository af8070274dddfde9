// Signed requests (SPEC.md "Authentication" 6): HMAC-SHA-256, each step's hex text the key of the
// next. The token-only form of the canonical query does not cover the other parameters: whoever
// sees a signed request can change them within the window. The full sorted query covers them, and a
// token may demand it.
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { Failure } from '../../store/base/failure.ts';

/** How far the caller's clock may be off (SPEC.md leaves it open), to either side. */
const WINDOW_MS = 300_000;

/** A request as it came, before its body was read. */
export interface SignedRequest {
  readonly method: string;
  /** Path with its version, percent-encoded as it was sent. */
  readonly path: string;
  /** Query without `?`, as it was sent. */
  readonly query: string;
  readonly host: string;
  /** Values of `x-svc-date` and `Authorization`. */
  readonly date: string | undefined;
  readonly authorization: string | undefined;
  /** The token that the request carries. */
  readonly token: string;
}

interface Claim {
  readonly token: string;
  readonly day: string;
  readonly signature: string;
}

/** Lower-case hex SHA-256 of a whole body. */
export const bodyHashOf = (body: string | Uint8Array): string => hash('sha256', body, 'hex');

/**
 * Checks what can be told before the body is there; the returned function checks the rest with the
 * body's hash, and answers the signature.
 * @param fullOnly the token alone is no canonical query
 * @throws Failure AuthorizationRequired without a signature, AuthorizationInvalid for one that is
 *   malformed or wrong, AuthorizationRestricted for a right one of another time or token.
 */
export function openSignature(
  request: SignedRequest,
  secret: string,
  brand: string,
  nowMs: number,
  fullOnly = false,
): (bodyHash: string) => string {
  const date = (request.date ?? '').trim();
  const authorization = (request.authorization ?? '').trim();
  const family = `${brand.toUpperCase()}-HMAC-`;
  if (date === '' || !authorization.startsWith(family)) throw new Failure('AuthorizationRequired');
  const claim = readClaim(authorization, brand);
  const dateMs = readDate(date);
  if (claim === undefined || dateMs === undefined) throw new Failure('AuthorizationInvalid');
  return (bodyHash) => {
    const full = sortedQuery(request.query);
    const queries = fullOnly ? [full] : [`token=${request.token}`, full];
    const right = queries.some(
      (query) =>
        query !== undefined &&
        same(signatureOf({ ...request, date, query }, claim.day, bodyHash, secret, brand), claim),
    );
    if (!right) throw new Failure('AuthorizationInvalid');
    const away = Math.abs(nowMs - dateMs) > WINDOW_MS;
    if (away || claim.day !== date.slice(0, 8) || claim.token !== request.token) {
      throw new Failure('AuthorizationRestricted');
    }
    return claim.signature;
  };
}

function readClaim(authorization: string, brand: string): Claim | undefined {
  const scope = `${brand}_request`;
  const headers = `host;x-${brand}-date`;
  const match = new RegExp(
    `^${brand.toUpperCase()}-HMAC-SHA256 +Credential=([^/, ]+)/(\\d{8})/${scope},\\s+` +
      `SignedHeaders=${headers},\\s+Signature=([0-9a-f]{64})$`,
  ).exec(authorization);
  const [, token, day, signature] = match ?? [];
  if (token === undefined || day === undefined || signature === undefined) return undefined;
  return { token, day, signature };
}

/** `YYYYMMDDTHHMMSSZ` of a day and time that exist. */
function readDate(text: string): number | undefined {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/.exec(text) ?? [];
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const ms = Date.parse(iso);
  // The year 2024 has no 30 February, but Date.parse makes 1 March of it.
  return Number.isNaN(ms) || new Date(ms).toISOString() !== iso ? undefined : ms;
}

function signatureOf(
  request: SignedRequest & { readonly date: string },
  day: string,
  bodyHash: string,
  secret: string,
  brand: string,
): string {
  const { method, path, query, date } = request;
  const scope = `${brand}_request`;
  const canonical = [
    method,
    path,
    query,
    `host:${request.host.trim()}\nx-${brand}-date:${date}\n`,
    `host;x-${brand}-date`,
    bodyHash,
  ].join('\n');
  const algorithm = `${brand.toUpperCase()}-HMAC-SHA256`;
  const toSign = [algorithm, date, `${day}/${scope}`, bodyHashOf(canonical)].join('\n');
  return hmac(hmac(hmac(secret, day), scope), toSign);
}

const hmac = (key: string, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex');

const same = (expected: string, { signature }: Claim): boolean =>
  timingSafeEqual(Buffer.from(expected), Buffer.from(signature));

/** Every parameter decoded, encoded again one way, in order; undefined where it can't be decoded. */
function sortedQuery(query: string): string | undefined {
  try {
    return query
      .split('&')
      .filter((piece) => piece !== '')
      .map((piece) => {
        const at = piece.indexOf('=');
        const [name, value] = at < 0 ? [piece, ''] : [piece.slice(0, at), piece.slice(at + 1)];
        return [encoded(name), encoded(value)] as const;
      })
      .sort(([a, one], [b, other]) => compare(a, b) || compare(one, other))
      .map(([name, value]) => `${name}=${value}`)
      .join('&');
  } catch {
    return undefined;
  }
}

/** Everything but letters, digits and `-_.~` as `%XX`. */
const encoded = (text: string): string =>
  encodeURIComponent(decodeURIComponent(text.replaceAll('+', ' '))).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Encoded text is ASCII, so that this is the order of bytes. */
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
