// One request, handed on to the node that serves, and its answer handed back as it comes.
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { request as secureRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { http } from '../../store/base/http.ts';
import { HOP_HEADER } from '../auth/hop.ts';
import type { Reach } from './reach.ts';
import type { RenewedAgent } from './renewedAgent.ts';
import { dropRest, isWhole } from './restOfBody.ts';

/** The node that serves, at the port of the same kind. */
export interface Target {
  readonly id: string;
  readonly url: URL;
  /** Its connections; they end when another node serves. */
  readonly agent: RenewedAgent;
  readonly reach: Reach;
  /** Signs what is handed on. */
  readonly hopKey: string;
}

/** What a client sent behind its headers. */
export interface SentBody {
  /** What has come so far. */
  readonly first: Buffer;
  /** Nothing comes after `first`: it may be sent again. */
  readonly isWhole: boolean;
}

/**
 * `done`: the client has an answer, or is gone. `notBegun`: that node did not begin with it; `cut`, too, but
 * it took of a body that nobody has any more. `unknown`: it was sent, and no answer came.
 */
type Outcome = 'done' | 'notBegun' | 'cut' | 'unknown';

/** A node that does not take a connection for so long is not there. */
const CONNECT_MS = 2_000;

/** RFC 9110 7.6.1: what is between two servers only. */
const BETWEEN = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

export async function hop(
  target: Target,
  incoming: IncomingMessage,
  body: SentBody | undefined,
  outgoing: ServerResponse,
  added: readonly [name: string, value: string],
): Promise<Outcome> {
  const { url } = target;
  const agent = target.agent.now();
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const options = {
    agent,
    hostname: hostOf(url),
    port: url.port,
    path: incoming.url ?? '/',
    method: incoming.method ?? 'GET',
    headers: [...headersOf(incoming, body), ...added],
    setHost: false,
  };
  const sending = url.protocol === 'https:' ? secureRequest(options) : http.request(options);
  let isSent = false;
  onConnection(sending, () => {
    isSent = true;
    send(sending, incoming, body);
  });
  const leave = (): void => void sending.destroy();
  const unwatch = target.reach.watch(leave);
  outgoing.once('close', leave);
  sending.once('response', (answer) => {
    if (isRefusedAtItsEnd(answer)) {
      answer.resume();
      resolve(body?.isWhole === false ? 'cut' : 'notBegun');
    } else resolve(handBack(answer, outgoing).then(() => finish(sending, incoming, outgoing)));
  });
  sending.on('error', () => {
    // Whoever else met the same has done so already.
    if (target.agent.now() === agent) target.agent.renew();
    if (outgoing.destroyed) resolve('done');
    else resolve(isSent ? 'unknown' : 'notBegun');
  });
  return promise.finally(() => {
    unwatch();
    outgoing.off('close', leave);
  });
}

/** Without the brackets that an address of IPv6 has in a URL. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** A server that ends answers so before it looks at a request: whatever it looked at has an id. */
const isRefusedAtItsEnd = ({ headers, statusCode }: IncomingMessage): boolean =>
  statusCode === 503 && headers['x-request-id'] === undefined;

/** From here on nobody knows what becomes of the request, should no answer come. */
function onConnection(sending: ClientRequest, begin: () => void): void {
  sending.once('socket', (socket) => {
    if (!socket.connecting) return begin();
    const late = setTimeout(() => socket.destroy(new Error('it takes no connection')), CONNECT_MS);
    socket.once('close', () => clearTimeout(late));
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      clearTimeout(late);
      begin();
    });
  });
}

function send(sending: ClientRequest, incoming: IncomingMessage, body: SentBody | undefined): void {
  if (body === undefined) return void sending.end();
  if (body.isWhole) return void sending.end(body.first);
  if (body.first.length > 0) sending.write(body.first);
  incoming.pipe(sending);
  // A client that goes in the middle of its body leaves half of one.
  incoming.once('error', () => sending.destroy());
  sending.once('close', () => incoming.unpipe(sending));
}

async function handBack(answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, kept(answer.rawHeaders));
  // A stream's first message may be long in coming.
  outgoing.flushHeaders();
  // Whichever end breaks off, the other one is told by its connection's end.
  await pipeline(answer, outgoing, { end: false }).catch(() => outgoing.destroy());
}

/** The node that serves may have answered before the body was whole: it wants no more of it. */
async function finish(
  sending: ClientRequest,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<Outcome> {
  if (!isWhole(incoming)) {
    incoming.unpipe(sending);
    sending.destroy();
    await dropRest(incoming);
  }
  outgoing.end();
  return 'done';
}

function headersOf(incoming: IncomingMessage, body: SentBody | undefined): string[] {
  const headers = kept(incoming.rawHeaders);
  if (body === undefined || incoming.headers['content-length'] !== undefined) return headers;
  return body.isWhole
    ? [...headers, 'content-length', String(body.first.length)]
    : [...headers, 'transfer-encoding', 'chunked'];
}

function kept(raw: readonly string[]): string[] {
  const named = connectionNames(raw);
  const list: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const lower = name.toLowerCase();
    if (!BETWEEN.has(lower) && !named.has(lower) && lower !== HOP_HEADER) list.push(name, value);
  }
  return list;
}

/** What a `Connection` header says to be between these two as well. */
function connectionNames(raw: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() !== 'connection') continue;
    for (const name of (raw[at + 1] ?? '').split(',')) names.add(name.trim().toLowerCase());
  }
  return names;
}
