// Forwards one request to the serving node and streams its answer back.
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { request as secureRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { http } from '../../store/base/http.ts';
import { PROXY_HEADER } from '../auth/proxyIdentity.ts';
import type { Reachability } from './reachability.ts';
import type { RenewedAgent } from './renewedAgent.ts';
import { drainBody, isBodyComplete } from './drainBody.ts';

/** The serving node, at the port of the same kind. */
export interface Target {
  readonly id: string;
  readonly url: URL;
  /** Its connections; they are closed when another node serves. */
  readonly agent: RenewedAgent;
  readonly reachability: Reachability;
  /** Signs forwarded requests. */
  readonly proxyKey: string;
}

/** The body of a request, or its beginning. */
export interface BufferedBody {
  /** The bytes received so far. */
  readonly first: Buffer;
  /** Nothing follows `first`: the body may be resent. */
  readonly isComplete: boolean;
}

/**
 * `done`: the client has its answer, or is disconnected. `notBegun`: the node did not begin with the request.
 * `cut`: the same, but it consumed body bytes that are not buffered. `unknown`: sent without an answer.
 */
type Outcome = 'done' | 'notBegun' | 'cut' | 'unknown';

/** Timeout of a connection to the node. */
const CONNECT_TIMEOUT_MS = 2_000;

/** Hop-by-hop headers (RFC 9110 7.6.1). */
const HOP_BY_HOP = new Set([
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

export async function proxyRequest(
  target: Target,
  incoming: IncomingMessage,
  body: BufferedBody | undefined,
  outgoing: ServerResponse,
  extraHeader: readonly [name: string, value: string],
): Promise<Outcome> {
  const { url } = target;
  const agent = target.agent.current();
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const options = {
    agent,
    hostname: hostWithoutBrackets(url),
    port: url.port,
    path: incoming.url ?? '/',
    method: incoming.method ?? 'GET',
    headers: [...buildHeaders(incoming, body), ...extraHeader],
    setHost: false,
  };
  const upstreamRequest =
    url.protocol === 'https:' ? secureRequest(options) : http.request(options);
  let isSent = false;
  onConnection(upstreamRequest, () => {
    isSent = true;
    send(upstreamRequest, incoming, body);
  });
  const abort = (): void => void upstreamRequest.destroy();
  const unwatch = target.reachability.watch(abort);
  outgoing.once('close', abort);
  upstreamRequest.once('response', (answer) => {
    if (isRefusedByShutdown(answer)) {
      answer.resume();
      resolve(body?.isComplete === false ? 'cut' : 'notBegun');
    } else
      resolve(
        relayAnswer(answer, outgoing).then(() => finishAnswer(upstreamRequest, incoming, outgoing)),
      );
  });
  upstreamRequest.on('error', () => {
    // Another request with the same agent may have renewed it already.
    if (target.agent.current() === agent) target.agent.renew();
    if (outgoing.destroyed) resolve('done');
    else resolve(isSent ? 'unknown' : 'notBegun');
  });
  return promise.finally(() => {
    unwatch();
    outgoing.off('close', abort);
  });
}

/** Removes the brackets that an IPv6 address has in a URL. */
export const hostWithoutBrackets = ({ hostname }: URL): string =>
  hostname.replace(/^\[(.*)\]$/, '$1');

/** A stopping server refuses before it handles a request; every handled request has an id. */
const isRefusedByShutdown = ({ headers, statusCode }: IncomingMessage): boolean =>
  statusCode === 503 && headers['x-request-id'] === undefined;

/** Once the request is sent, its outcome is unknown until an answer arrives. */
function onConnection(upstreamRequest: ClientRequest, begin: () => void): void {
  upstreamRequest.once('socket', (socket) => {
    if (!socket.connecting) return begin();
    const timeout = setTimeout(
      () => socket.destroy(new Error('it takes no connection')),
      CONNECT_TIMEOUT_MS,
    );
    socket.once('close', () => clearTimeout(timeout));
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      clearTimeout(timeout);
      begin();
    });
  });
}

function send(
  upstreamRequest: ClientRequest,
  incoming: IncomingMessage,
  body: BufferedBody | undefined,
): void {
  if (body === undefined) return void upstreamRequest.end();
  if (body.isComplete) return void upstreamRequest.end(body.first);
  if (body.first.length > 0) upstreamRequest.write(body.first);
  incoming.pipe(upstreamRequest);
  // A client that disconnects in the middle leaves an incomplete body.
  incoming.once('error', () => upstreamRequest.destroy());
  upstreamRequest.once('close', () => incoming.unpipe(upstreamRequest));
}

async function relayAnswer(answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(
    answer.statusCode ?? 502,
    answer.statusMessage,
    endToEndHeaders(answer.rawHeaders),
  );
  // A stream's first message may take long.
  outgoing.flushHeaders();
  // If either side breaks off, the other connection is closed too.
  await pipeline(answer, outgoing, { end: false }).catch(() => outgoing.destroy());
}

/** Discards the rest of the body if the serving node answered before the body was complete. */
async function finishAnswer(
  upstreamRequest: ClientRequest,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<Outcome> {
  if (!isBodyComplete(incoming)) {
    incoming.unpipe(upstreamRequest);
    upstreamRequest.destroy();
    await drainBody(incoming);
  }
  outgoing.end();
  return 'done';
}

function buildHeaders(incoming: IncomingMessage, body: BufferedBody | undefined): string[] {
  const headers = endToEndHeaders(incoming.rawHeaders);
  if (body === undefined || incoming.headers['content-length'] !== undefined) return headers;
  return body.isComplete
    ? [...headers, 'content-length', String(body.first.length)]
    : [...headers, 'transfer-encoding', 'chunked'];
}

function endToEndHeaders(raw: readonly string[]): string[] {
  const connectionHeaders = connectionNames(raw);
  const list: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const lowerName = name.toLowerCase();
    if (
      !HOP_BY_HOP.has(lowerName) &&
      !connectionHeaders.has(lowerName) &&
      lowerName !== PROXY_HEADER
    )
      list.push(name, value);
  }
  return list;
}

/** Names of further hop-by-hop headers, from the `Connection` header. */
function connectionNames(raw: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() !== 'connection') continue;
    for (const name of (raw[at + 1] ?? '').split(',')) names.add(name.trim().toLowerCase());
  }
  return names;
}
