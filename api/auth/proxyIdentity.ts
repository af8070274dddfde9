// Signs and verifies the client's address on requests that another node of the catalog forwards. The key is
// stored in the catalog, so that nobody else can forge the address.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type AddressRules, clientAddress } from '../../store/base/addresses.ts';

export const PROXY_HEADER = 'tapedeck-hop';
/** Clocks of nodes may differ, and a request may wait for the next serving node. */
const AGE_MAX_MS = 60_000;

export interface ProxySigning {
  readonly key: string;
  readonly clock: () => number;
}

interface ProxiedRequest {
  readonly method?: string | undefined;
  /** The URL as it was sent. */
  readonly url?: string | undefined;
}

/** The address that sent a request to this node, as reported by trusted proxies. */
export function senderAddress({ headers, socket }: IncomingMessage, proxies: AddressRules): string {
  const forwarded = headers['x-forwarded-for'];
  const hops = Array.isArray(forwarded) ? forwarded.join(',') : forwarded;
  return clientAddress(socket.remoteAddress ?? '', hops, proxies);
}

/** The header's value. @param address the client's address */
export function signProxyHeader(
  { clock, key }: ProxySigning,
  request: ProxiedRequest,
  address: string,
): string {
  const payload = `${Math.floor(clock())} ${address}`;
  return `${payload} ${signatureOf(key, request, payload)}`;
}

/** The client's address; undefined if the header is not valid or too old. */
export function verifyProxyHeader(
  { clock, key }: ProxySigning,
  request: ProxiedRequest,
  header: string | readonly string[] | undefined,
): string | undefined {
  if (typeof header !== 'string') return undefined;
  const [atMs = '', address = '', signature = '', ...rest] = header.split(' ');
  if (rest.length > 0 || address === '') return undefined;
  const expected = Buffer.from(signatureOf(key, request, `${atMs} ${address}`));
  const actual = Buffer.from(signature);
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return undefined;
  return Math.abs(clock() - Number(atMs)) <= AGE_MAX_MS ? address : undefined;
}

const signatureOf = (key: string, { method, url }: ProxiedRequest, payload: string): string =>
  createHmac('sha256', key).update(`${method} ${url}\n${payload}`).digest('hex');
