// Which pages may use a token: patterns for the Referer header (SPEC.md "Authentication" 5,
// INTERFACE.md 5). Both sides are read by the URL parser that browsers use, so that no spelling
// means one host here and another one there.
//
// A Referer is sent by the caller: it keeps honest browsers from using the token on other sites,
// and nobody else from anything. Browsers send only the origin to another site unless its page
// asks for more (Referrer-Policy), so a pattern with a path wants such a page.
import { isIPv4 } from 'node:net';
import { Failure } from '../../store/base/failure.ts';

const PATTERNS_MAX = 50;
const PATTERN_CHARACTERS_MAX = 255;
/** Browsers cut a longer one down to its origin (W3C Referrer Policy 8.4). */
const REFERER_CHARACTERS_MAX = 4_096;

/** Scheme, `*.`, host, port, path; whether the host is one is asked of the URL parser. */
const PATTERN =
  /^(?:(https?):\/\/)?(\*\.)?(\[[\da-f:.]+\]|[^\s:/?#@%*[\]\\]+)(?::(\d{1,5}))?(\/[^\s?#\\]*)?$/i;
const HOST_NAME = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;
/** Only what a browser writes: no user, no blank, no backslash, which parsers read differently. */
const REFERER = /^https?:\/\/[^\s\\/?#@]+(?:[/?#][^\s\\]*)?$/i;

interface Pattern {
  readonly scheme: string | undefined;
  /** Subdomains of the host, at any depth, instead of the host. */
  readonly wild: boolean;
  readonly host: string;
  readonly port: string | undefined;
  readonly path: string;
}

/**
 * Reads what an owner typed: patterns separated by blanks, each
 * `[http://|https://][*.]host[:port][/path][*]`. Without a scheme both are meant, without a port
 * any. A path stands for itself and everything below it: `/app` for `/app/1` and not for `/apple`,
 * `/app/` only for what is below, and `/app*` for whatever begins so. `*.example.com` is not
 * `example.com`, as in certificates and Content-Security-Policy: whoever wants both writes both. An IP
 * address is a host.
 * Answers the patterns as they will be compared: host in lower case and Punycode, plain path.
 * None of them means that none is allowed: whether a token is restricted at all is the caller's.
 * @throws Failure InvalidBody naming the pattern and the rule.
 */
export function parseReferrers(text: string): readonly string[] {
  if (text.length > PATTERNS_MAX * (PATTERN_CHARACTERS_MAX + 1)) refuse('the text is too long');
  const patterns = text.split(/\s+/).filter((pattern) => pattern !== '');
  if (patterns.length > PATTERNS_MAX) refuse(`there are more than ${PATTERNS_MAX} patterns`);
  return patterns.map(parsePattern);
}

/**
 * Whether the page that sent `referer` fits any of `patterns`, which parseReferrers answered.
 * A missing, malformed or overlong Referer fits none.
 */
export function allowsReferrer(patterns: readonly string[], referer: string | undefined): boolean {
  if (referer === undefined || referer.length > REFERER_CHARACTERS_MAX) return false;
  const page = REFERER.test(referer) ? URL.parse(referer) : null;
  if (page === null) return false;
  const host = withoutLastDot(page.hostname);
  const path = plainPath(page.pathname);
  return patterns.some((text) => {
    const pattern = split(text);
    if (pattern === undefined) return false;
    if (pattern.scheme !== undefined && `${pattern.scheme}:` !== page.protocol) return false;
    if (pattern.port !== undefined && pattern.port !== portOf(page)) return false;
    const fits = pattern.wild ? host.endsWith(`.${pattern.host}`) : host === pattern.host;
    return fits && isBelow(path, pattern.path);
  });
}

/** Whole names of a path: `/app` does not begin `/apple`. */
function isBelow(path: string, pattern: string): boolean {
  if (pattern.endsWith('*')) return path.startsWith(pattern.slice(0, -1));
  if (!path.startsWith(pattern)) return false;
  return pattern.endsWith('/') || path.length === pattern.length || path[pattern.length] === '/';
}

function split(text: string): Pattern | undefined {
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

/** The pattern of `text`, printed as it will be compared. */
function parsePattern(text: string): string {
  const told = `"${text.slice(0, PATTERN_CHARACTERS_MAX)}"`;
  const pattern = split(text);
  if (pattern === undefined) {
    refuse(`${told} is not [http://|https://][*.]host[:port][/path]; blanks separate patterns`);
  }
  const path = pattern.path.replace(/\*$/, '');
  const begins = path !== pattern.path && !path.endsWith('/');
  if (path.includes('*')) refuse(`${told} has a * that is neither *. before a host nor at the end`);
  const plain = plainPath(path);
  // `/.*` and `/app/..*` would be cut down to a folder, and let in more than was written.
  if (begins && plain.endsWith('/')) refuse(`${told} has . or .. right before its *`);
  const host = hostOf(pattern.host);
  if (host === undefined) refuse(`${told} names no host`);
  if (pattern.wild && (isIPv4(host) || host.startsWith('['))) {
    refuse(`${told} has subdomains of an IP address`);
  }
  const port = pattern.port === undefined ? undefined : Number(pattern.port);
  if (port !== undefined && (port < 1 || port > 65_535)) refuse(`${told} has an impossible port`);
  const printed = print({
    scheme: pattern.scheme?.toLowerCase(),
    wild: pattern.wild,
    host,
    port: port?.toString(),
    path: `${plain}${begins ? '*' : ''}`,
  });
  // Escapes and Punycode count, so that what is answered can be sent again.
  if (printed.length <= PATTERN_CHARACTERS_MAX) return printed;
  return refuse(`${told} is longer than ${PATTERN_CHARACTERS_MAX} characters`);
}

/** As the URL parser spells it; undefined for what it refuses, or would read as something else. */
function hostOf(text: string): string | undefined {
  const url = URL.parse(`http://${text}/`);
  if (url === null) return undefined;
  const host = withoutLastDot(url.hostname);
  if (host.startsWith('[')) return host;
  // It reads 1.2.3 as 1.2.0.3: nobody means that.
  if (isIPv4(host)) return withoutLastDot(text) === host ? host : undefined;
  return HOST_NAME.test(host) && host.length <= 253 ? host : undefined;
}

/** `example.com.` is `example.com`, as every resolver says. */
const withoutLastDot = (host: string): string => host.replace(/\.$/, '');

const portOf = ({ port, protocol }: URL): string =>
  port === '' ? (protocol === 'https:' ? '443' : '80') : port;

/**
 * Without `.` and `..`, and without needless escapes (RFC 3986, 6.2.2): `/%61pp` is `/app`. An
 * escaped slash counts as one, because a server may take it for one: `/app/..%2Fadmin` is `/admin`.
 */
function plainPath(path: string): string {
  const plain = path.replace(/%[\da-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(parseInt(escape.slice(1), 16));
    return /[\w.~\\/-]/.test(character) ? character : escape.toUpperCase();
  });
  return new URL(`http://host${plain}`).pathname;
}

function refuse(reason: string): never {
  throw new Failure('InvalidBody', `allowed referrers: ${reason}`);
}
