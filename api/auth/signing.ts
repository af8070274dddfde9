// Verifies signed requests (SPEC.md "Authentication" 6): HMAC-SHA-256, each step's hex text is the key of
// the next. The token-only form of the canonical query does not cover the other parameters: anyone who
// sees a signed request can change them within the window. The full sorted query covers them, and a
// token may require it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { hashBody } from '../../store/base/bodyHash.ts';
import { Failure } from '../../store/base/failure.ts';

/** Allowed clock skew to either side (SPEC.md leaves it open). */
const WINDOW_MS = 300_000;

/** A received request before its body is read. */
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

/**
 * Checks the headers before the body is read; the returned function verifies the signature with the
 * body's hash and returns it.
 * @param fullOnly refuses the token-only form of the canonical query
 * @throws Failure AuthorizationRequired without a signature, AuthorizationInvalid for one that is
 *   malformed or wrong, AuthorizationRestricted for a correct one of another time or token.
 */
export function beginSignatureCheck(
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
    const isValid = queries.some(
      (query) =>
        query !== undefined &&
        isSameSignature(
          signatureOf({ ...request, date, query }, claim.day, bodyHash, secret, brand),
          claim,
        ),
    );
    if (!isValid) throw new Failure('AuthorizationInvalid');
    const isOutsideWindow = Math.abs(nowMs - dateMs) > WINDOW_MS;
    if (isOutsideWindow || claim.day !== date.slice(0, 8) || claim.token !== request.token) {
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

/** Parses `YYYYMMDDTHHMMSSZ`; undefined for a day or time that does not exist. */
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
  const toSign = [algorithm, date, `${day}/${scope}`, hashBody(canonical)].join('\n');
  return hmac(hmac(hmac(secret, day), scope), toSign);
}

const hmac = (key: string, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex');

const isSameSignature = (expected: string, { signature }: Claim): boolean =>
  timingSafeEqual(Buffer.from(expected), Buffer.from(signature));

/** Sorts parameters in one canonical encoding; undefined if they can't be decoded. */
function sortedQuery(query: string): string | undefined {
  try {
    return query
      .split('&')
      .filter((piece) => piece !== '')
      .map((piece) => {
        const at = piece.indexOf('=');
        const [name, value] = at < 0 ? [piece, ''] : [piece.slice(0, at), piece.slice(at + 1)];
        return [canonicalEncode(name), canonicalEncode(value)] as const;
      })
      .sort(([a, one], [b, other]) => compare(a, b) || compare(one, other))
      .map(([name, value]) => `${name}=${value}`)
      .join('&');
  } catch {
    return undefined;
  }
}

/** Encodes everything but letters, digits and `-_.~` as `%XX`. */
const canonicalEncode = (text: string): string =>
  encodeURIComponent(decodeURIComponent(text.replaceAll('+', ' '))).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Encoded text is ASCII, so this is byte order. */
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
