// A request that another node of the same catalog hands on: whose it is, as that node saw it. It is signed
// with a key that only those who read the catalog know, so that nobody else can say who asks.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type AddressRules, clientAddress } from '../../store/base/addresses.ts';

export const HOP_HEADER = 'tapedeck-hop';
/** Clocks of nodes may differ, and a request may wait for the next one that serves. */
const AGE_MS_MAX = 60_000;

export interface Hopping {
  readonly key: string;
  readonly clock: () => number;
}

interface Hopped {
  readonly method?: string | undefined;
  /** As it was sent. */
  readonly url?: string | undefined;
}

/** Who sent a request to this very node, as far as proxies that are trusted tell it. */
export function senderOf({ headers, socket }: IncomingMessage, proxies: AddressRules): string {
  const forwarded = headers['x-forwarded-for'];
  const hops = Array.isArray(forwarded) ? forwarded.join(',') : forwarded;
  return clientAddress(socket.remoteAddress ?? '', hops, proxies);
}

/** The header's value. @param address the client's */
export function signHop({ clock, key }: Hopping, request: Hopped, address: string): string {
  const said = `${Math.floor(clock())} ${address}`;
  return `${said} ${signatureOf(key, request, said)}`;
}

/** The client's address; undefined where the header is none of ours, or too old. */
export function hopAddress(
  { clock, key }: Hopping,
  request: Hopped,
  header: string | readonly string[] | undefined,
): string | undefined {
  if (typeof header !== 'string') return undefined;
  const [atMs = '', address = '', signature = '', ...rest] = header.split(' ');
  if (rest.length > 0 || address === '') return undefined;
  const expected = Buffer.from(signatureOf(key, request, `${atMs} ${address}`));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return Math.abs(clock() - Number(atMs)) <= AGE_MS_MAX ? address : undefined;
}

const signatureOf = (key: string, { method, url }: Hopped, said: string): string =>
  createHmac('sha256', key).update(`${method} ${url}\n${said}`).digest('hex');
