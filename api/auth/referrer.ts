// Restricts a token to pages by patterns for the Referer header (SPEC.md "Authentication" 5,
// INTERFACE.md 5). Both sides use the URL parser of browsers, so that a spelling means the same host
// to both.
//
// The caller sends the Referer: it stops honest browsers from using the token on other sites, and
// nobody else. Browsers send only the origin to another site unless the page's Referrer-Policy
// allows more, so a pattern with a path needs such a page.
import { isIPv4 } from 'node:net';
import { Failure } from '../../store/base/failure.ts';

const PATTERNS_MAX = 50;
const PATTERN_CHARACTERS_MAX = 255;
/** Browsers shorten a longer one to its origin (W3C Referrer Policy 8.4). */
const REFERER_CHARACTERS_MAX = 4_096;

/** Scheme, `*.`, host, port, path; the URL parser validates the host. */
const PATTERN =
  /^(?:(https?):\/\/)?(\*\.)?(\[[\da-f:.]+\]|[^\s:/?#@%*[\]\\]+)(?::(\d{1,5}))?(\/[^\s?#\\]*)?$/i;
const HOST_NAME = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;
/** Accepts only the form that browsers send: no user, blank or backslash, on which parsers differ. */
const REFERER = /^https?:\/\/[^\s\\/?#@]+(?:[/?#][^\s\\]*)?$/i;

interface Pattern {
  readonly scheme: string | undefined;
  /** Matches subdomains of the host, at any depth, instead of the host. */
  readonly wild: boolean;
  readonly host: string;
  readonly port: string | undefined;
  readonly path: string;
}

/**
 * Parses patterns separated by blanks, each `[http://|https://][*.]host[:port][/path][*]`. Without a
 * scheme both match, without a port any. A path matches itself and everything below it: `/app` matches
 * `/app/1` and not `/apple`, `/app/` only paths below it, and `/app*` any path with that prefix.
 * `*.example.com` does not match `example.com`, as in certificates and Content-Security-Policy; list both
 * to match both. An IP address is a host.
 * Returns the patterns in canonical form: host in lower case and Punycode, plain path.
 * An empty list allows no page; the caller decides whether a token is restricted at all.
 * @throws Failure InvalidBody naming the pattern and the rule.
 */
export function parseReferrers(text: string): readonly string[] {
  if (text.length > PATTERNS_MAX * (PATTERN_CHARACTERS_MAX + 1)) refuse('the text is too long');
  const patterns = text.split(/\s+/).filter((pattern) => pattern !== '');
  if (patterns.length > PATTERNS_MAX) refuse(`there are more than ${PATTERNS_MAX} patterns`);
  return patterns.map(parsePattern);
}

/**
 * Whether the page that sent `referer` matches any of `patterns`, which parseReferrers returned.
 * A missing, malformed or overlong Referer matches none.
 */
export function allowsReferrer(patterns: readonly string[], referer: string | undefined): boolean {
  if (referer === undefined || referer.length > REFERER_CHARACTERS_MAX) return false;
  const page = REFERER.test(referer) ? URL.parse(referer) : null;
  if (page === null) return false;
  const host = withoutLastDot(page.hostname);
  const path = plainPath(page.pathname);
  return patterns.some((text) => {
    const pattern = parseParts(text);
    if (pattern === undefined) return false;
    if (pattern.scheme !== undefined && `${pattern.scheme}:` !== page.protocol) return false;
    if (pattern.port !== undefined && pattern.port !== portOf(page)) return false;
    const isHostMatch = pattern.wild ? host.endsWith(`.${pattern.host}`) : host === pattern.host;
    return isHostMatch && isBelow(path, pattern.path);
  });
}

/** Compares whole segments: `/app` is no prefix of `/apple`. */
function isBelow(path: string, pattern: string): boolean {
  if (pattern.endsWith('*')) return path.startsWith(pattern.slice(0, -1));
  if (!path.startsWith(pattern)) return false;
  return pattern.endsWith('/') || path.length === pattern.length || path[pattern.length] === '/';
}

function parseParts(text: string): Pattern | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  const [, scheme, wild, host = '', port, path = '/'] = match;
  return { scheme, wild: wild !== undefined, host, port, path };
}

const print = ({ scheme, wild, host, port, path }: Pattern): string =>
  [
    scheme === undefined ? '' : `${scheme}://`,
    wild ? '*.' : '',
    host,
    port === undefined ? '' : `:${port}`,
    path === '/' ? '' : path,
  ].join('');

/** The canonical form of a pattern. */
function parsePattern(text: string): string {
  const quoted = `"${text.slice(0, PATTERN_CHARACTERS_MAX)}"`;
  const pattern = parseParts(text);
  if (pattern === undefined) {
    refuse(`${quoted} is not [http://|https://][*.]host[:port][/path]; blanks separate patterns`);
  }
  const path = pattern.path.replace(/\*$/, '');
  const isPrefix = path !== pattern.path && !path.endsWith('/');
  if (path.includes('*'))
    refuse(`${quoted} has a * that is neither *. before a host nor at the end`);
  const plainedPath = plainPath(path);
  // `/.*` and `/app/..*` would be normalized to a folder and match more than the owner wrote.
  if (isPrefix && plainedPath.endsWith('/')) refuse(`${quoted} has . or .. right before its *`);
  const host = normalizeHost(pattern.host);
  if (host === undefined) refuse(`${quoted} names no host`);
  if (pattern.wild && (isIPv4(host) || host.startsWith('['))) {
    refuse(`${quoted} has subdomains of an IP address`);
  }
  const port = pattern.port === undefined ? undefined : Number(pattern.port);
  if (port !== undefined && (port < 1 || port > 65_535)) refuse(`${quoted} has an impossible port`);
  const printed = print({
    scheme: pattern.scheme?.toLowerCase(),
    wild: pattern.wild,
    host,
    port: port?.toString(),
    path: `${plainedPath}${isPrefix ? '*' : ''}`,
  });
  // Escapes and Punycode count, so that the returned pattern can be sent again.
  if (printed.length <= PATTERN_CHARACTERS_MAX) return printed;
  return refuse(`${quoted} is longer than ${PATTERN_CHARACTERS_MAX} characters`);
}

/** The host in the URL parser's spelling; undefined if it is invalid or would be reinterpreted. */
function normalizeHost(text: string): string | undefined {
  const url = URL.parse(`http://${text}/`);
  if (url === null) return undefined;
  const host = withoutLastDot(url.hostname);
  if (host.startsWith('[')) return host;
  // The parser reads 1.2.3 as 1.2.0.3, which nobody intends.
  if (isIPv4(host)) return withoutLastDot(text) === host ? host : undefined;
  return HOST_NAME.test(host) && host.length <= 253 ? host : undefined;
}

/** `example.com.` is `example.com`, as for every resolver. */
const withoutLastDot = (host: string): string => host.replace(/\.$/, '');

const portOf = ({ port, protocol }: URL): string =>
  port === '' ? (protocol === 'https:' ? '443' : '80') : port;

/**
 * Removes `.` and `..`, and needless escapes (RFC 3986, 6.2.2): `/%61pp` is `/app`. An escaped slash
 * counts as a slash, because a server may treat it as one: `/app/..%2Fadmin` is `/admin`.
 */
function plainPath(path: string): string {
  const plainedPath = path.replace(/%[\da-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(parseInt(escape.slice(1), 16));
    return /[\w.~\\/-]/.test(character) ? character : escape.toUpperCase();
  });
  return new URL(`http://host${plainedPath}`).pathname;
}

function refuse(reason: string): never {
  throw new Failure('InvalidBody', `allowed referrers: ${reason}`);
}
