// One port of a node that does not serve. It is there before the node is the one that serves, and goes over
// to that server with the port: no connection is refused between the two.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { once } from 'node:events';
import { http } from '../../store/base/http.ts';
import {
  HEADER_BYTES_MAX,
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  LATE_LOOK_MS,
  REQUEST_TIMEOUT_MS,
} from './connections.ts';
import type { Forwarder } from './forward.ts';

export interface OwnAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

interface FrontDoorOptions {
  readonly host: string;
  readonly port: number;
  readonly https: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly forward: Forwarder;
  /** What the node says of itself; undefined for all else. */
  readonly own: (
    path: string,
    incoming: IncomingMessage,
  ) => OwnAnswer | Promise<OwnAnswer> | undefined;
  /** It has the port already, and gives it over. */
  readonly former?: Server | undefined;
}

export interface FrontDoor {
  /** Its port goes over to a server that listens to it. */
  readonly server: Server;
  readonly port: number;
  /** Another server has its port: what is on its way here ends by itself. */
  leave(): void;
  /** Takes nothing new; cuts what is not answered after so long. */
  close(graceMs: number): Promise<void>;
}

export async function openFrontDoor({
  former,
  forward,
  host,
  https,
  own,
  port,
}: FrontDoorOptions): Promise<FrontDoor> {
  let isLeft = false;
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (isLeft) outgoing.shouldKeepAlive = false;
    const [path = ''] = (incoming.url ?? '').split('?');
    const said = own(path, incoming);
    if (said === undefined) return forward(incoming, outgoing);
    const { status, text, type } = await said;
    outgoing.writeHead(status, {
      'content-type': type,
      ...(status === 503 ? { 'retry-after': '1' } : {}),
    });
    outgoing.end(text);
  };
  const options = {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: LATE_LOOK_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server =
    https === undefined ? http.createServer(options) : createSecureServer({ ...options, ...https });
  server.on('request', (incoming, outgoing) => {
    // Whatever failed, the client sees the end of its connection.
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(former ?? { host, port });
  await once(server, 'listening');
  const address = server.address();
  const listened = typeof address === 'object' && address !== null ? address.port : port;
  return {
    server,
    port: listened,
    leave: () => {
      isLeft = true;
      server.closeIdleConnections();
    },
    close: async (graceMs) => {
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await new Promise((resolve) => server.close(resolve));
      clearTimeout(cut);
    },
  };
}
