// One port of a node that does not serve. It listens before the node serves, and hands its port over to the
// node's server without a gap: no connection is refused in between.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { once } from 'node:events';
import { http } from '../../store/base/http.ts';
import {
  HEADER_BYTES_MAX,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  TIMEOUT_CHECK_MS,
  REQUEST_TIMEOUT_MS,
} from './connections.ts';
import type { Forwarder } from './forward.ts';

export interface LocalAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

interface FrontServerOptions {
  readonly host: string;
  readonly port: number;
  readonly https: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly forward: Forwarder;
  /** Answers of the node itself; undefined forwards the request. */
  readonly answerLocally: (
    path: string,
    incoming: IncomingMessage,
  ) => LocalAnswer | Promise<LocalAnswer> | undefined;
  /** A server that listens on the port already and hands it over. */
  readonly former?: Server | undefined;
}

export interface FrontServer {
  /** A later server may take over its port. */
  readonly server: Server;
  readonly port: number;
  /** Another server has taken over the port: requests in progress end normally. */
  leave(): void;
  /** Stops accepting connections; cuts unfinished requests after the grace period. */
  close(graceMs: number): Promise<void>;
}

export async function openFrontServer({
  former,
  forward,
  host,
  https,
  answerLocally,
  port,
}: FrontServerOptions): Promise<FrontServer> {
  let isLeft = false;
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (isLeft) outgoing.shouldKeepAlive = false;
    const [path = ''] = (incoming.url ?? '').split('?');
    const ownAnswer = answerLocally(path, incoming);
    if (ownAnswer === undefined) return forward(incoming, outgoing);
    const { status, text, type } = await ownAnswer;
    outgoing.writeHead(status, {
      'content-type': type,
      ...(status === 503 ? { 'retry-after': '1' } : {}),
    });
    outgoing.end(text);
  };
  const options = {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server =
    https === undefined ? http.createServer(options) : createSecureServer({ ...options, ...https });
  server.on('request', (incoming, outgoing) => {
    // On any failure the client's connection is closed.
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(former ?? { host, port });
  await once(server, 'listening');
  const address = server.address();
  const listeningPort = typeof address === 'object' && address !== null ? address.port : port;
  return {
    server,
    port: listeningPort,
    leave: () => {
      isLeft = true;
      server.closeIdleConnections();
    },
    close: async (graceMs) => {
      const timeout = setTimeout(() => server.closeAllConnections(), graceMs);
      await new Promise((resolve) => server.close(resolve));
      clearTimeout(timeout);
    },
  };
}
