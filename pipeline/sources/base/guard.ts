// Guards connections that this server opens at a user's request: to the Internet, and to its own network only
// if the operator allows it. Only checked addresses are connected to.
import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { reasonOf } from '../../../store/base/failure.ts';
import { SourceFailure } from './source.ts';

/** Addresses of a host name; rejects with the `code` of `dns.lookup`. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export interface Guard {
  readonly allowPrivateAddresses: boolean;
  readonly resolve: Resolve;
  /** Logs for the operator the private address of a refused name, which its user must not learn. */
  readonly onRefused?: (reason: string) => void;
}

/** Resolves like every program of the machine, including its hosts file. */
export const systemResolve: Resolve = (host) => lookup(host, { all: true, order: 'verbatim' });

/** A signed URL of a store has up to 2,000; few servers read more than 8,192. */
const URL_CHARACTERS_MAX = 8_192;
/** RFC 1035. */
const HOST_CHARACTERS_MAX = 253;
/** Addresses of a name that are tried; all of them are checked. */
const ADDRESSES_MAX = 8;

/** Ports of other protocols that no browser sends HTTP to (Fetch standard, "port blocking"). */
const OTHER_PROTOCOLS: ReadonlySet<number> = new Set(
  `0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111
  113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548
  554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566
  6665 6666 6667 6668 6669 6679 6697 10080`
    .split(/\s+/)
    .map(Number),
);

/** The block that IANA assigned to the public Internet; other IPv6 is unassigned, or embeds IPv4. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Public addresses of a cloud's metadata service for its own machines. */
const METADATA: readonly string[] = ['168.63.129.16'];

/**
 * Parses the URL in `text`, or `text` as a link of `base`: http or https, without user or password.
 * Checks a host that is an address; a name is checked when it is resolved.
 * @throws SourceFailure naming the broken rule.
 */
export function checkUrl(text: string, allowPrivateAddresses: boolean, base?: URL): URL {
  if (text.length > URL_CHARACTERS_MAX) {
    refuse(`a URL has at most ${URL_CHARACTERS_MAX} characters`);
  }
  // The parser would drop or convert these characters, and return another host.
  if (/[\u0000-\u0020\u007f\\]/.test(text))
    refuse('a URL has no space, backslash or control character');
  if (base === undefined && !/^https?:\/\/[^/]/i.test(text)) {
    refuse('a URL begins with http:// or https:// and a host');
  }
  if (!URL.canParse(text, base?.href)) refuse(`"${text.slice(0, 100)}" is no URL`);
  const url = new URL(text, base?.href);
  if (!['http:', 'https:'].includes(url.protocol)) refuse('a URL begins with http:// or https://');
  if (url.username !== '' || url.password !== '') refuse('a URL holds no user and no password');
  if (OTHER_PROTOCOLS.has(url.port === '' ? 80 : Number(url.port))) {
    refuse(`port ${url.port} is that of another protocol`);
  }
  url.hash = '';
  checkHost(url.hostname, allowPrivateAddresses);
  return url;
}

/**
 * Checks a host name, or an address, in brackets or not.
 * @throws SourceFailure if it is neither, or an address that must not be reached.
 */
function checkHost(host: string, allowPrivateAddresses: boolean): void {
  const bare = withoutBrackets(host);
  if (isIP(bare) !== 0) {
    if (allowPrivateAddresses || isPublic(bare)) return;
    refuse(`${bare} ${NOT_PUBLIC}`);
  }
  const labels = bare.replace(/\.$/, '').split('.');
  const proper = labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label));
  // The URL parser has converted every number that is an address: this one is not.
  const isNumber = /^(?:\d+|0x[\da-f]*)$/i.test(labels.at(-1) ?? '');
  if (!proper || isNumber || bare.length > HOST_CHARACTERS_MAX) {
    refuse(`"${bare.slice(0, 100)}" is no host name`);
  }
  if (!allowPrivateAddresses && labels.at(-1)?.toLowerCase() === 'localhost') {
    refuse(`${bare} is not on the public Internet`);
  }
}

/**
 * Resolves a name once, and checks every address: one that must not be reached refuses the whole name. If
 * private addresses are off, an unknown name and a private one fail alike, so that names of the operator's
 * network cannot be probed.
 * @throws SourceFailure naming the host; the signal's reason when it stops.
 */
export async function resolveAddresses(
  host: string,
  guard: Guard,
  signal?: AbortSignal,
): Promise<readonly LookupAddress[]> {
  checkHost(host, guard.allowPrivateAddresses);
  const bare = withoutBrackets(host);
  const family = isIP(bare);
  if (family !== 0) return [{ address: bare, family }];
  const addresses = await stoppable(guard.resolve(bare), signal).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw unresolved(bare, error, guard.allowPrivateAddresses);
  });
  if (guard.allowPrivateAddresses) {
    if (addresses.length === 0) throw new SourceFailure(`host ${bare} has no address`, false);
  } else checkResolved(bare, addresses, guard);
  return addresses.slice(0, ADDRESSES_MAX);
}

/** A lookup for sockets that returns the addresses checked before, even if the name has changed. */
export const pinnedLookup =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_host, options, callback) => {
    callBack(addresses, options, callback);
  };

/** A lookup for clients that choose hosts themselves: it returns only checked addresses. */
export const guardedLookup =
  (guard: Guard): LookupFunction =>
  (host, options, callback) => {
    resolveAddresses(host, guard).then(
      (addresses) => {
        callBack(addresses, options, callback);
      },
      (error: unknown) => {
        callback(error as Error, '', 0);
      },
    );
  };

type Answer = Parameters<LookupFunction>;

function callBack(
  addresses: readonly LookupAddress[],
  options: Answer[1],
  callback: Answer[2],
): void {
  const [first] = addresses;
  if (options.all === true) callback(null, [...addresses]);
  else callback(null, first?.address ?? '', first?.family);
}

const NOT_PUBLIC = 'is not on the public Internet, and TAPEDECK_ALLOW_PRIVATE_ADDRESSES is off';

const notPublic = (host: string): SourceFailure =>
  new SourceFailure(`host ${host} is unknown or ${NOT_PUBLIC}`, false);

function checkResolved(
  host: string,
  addresses: readonly LookupAddress[],
  { onRefused }: Guard,
): void {
  const refused = addresses.find(({ address }) => !isPublic(address));
  if (refused !== undefined) onRefused?.(`host ${host} is ${refused.address}, which ${NOT_PUBLIC}`);
  if (refused !== undefined || addresses.length === 0) throw notPublic(host);
}

function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false;
  // An IPv4 address mapped into IPv6 is checked as IPv4.
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(GLOBAL_IPV6);
  return !METADATA.includes(parsed.toString());
}

function unresolved(host: string, error: unknown, allowPrivateAddresses: boolean): SourceFailure {
  const { code } = error as { readonly code?: string };
  if (code === 'ENOTFOUND' && !allowPrivateAddresses) return notPublic(host);
  if (code === 'ENOTFOUND') return new SourceFailure(`host ${host} is not known`, false);
  return new SourceFailure(`host ${host} cannot be resolved: ${code ?? reasonOf(error)}`, true);
}

/** Stops waiting for the operating system's resolver, which cannot be stopped itself. */
function stoppable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => {
    stopped.reject(signal.reason);
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return Promise.race([work, stopped.promise]).finally(() => {
    signal.removeEventListener('abort', stop);
  });
}

const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

function refuse(reason: string): never {
  throw new SourceFailure(reason, false);
}
