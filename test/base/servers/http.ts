// An HTTP server of a test: in this process, on a free port of this machine.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

export interface ListeningServer extends AsyncDisposable {
  readonly port: number;
}

export function startHttp(listener: RequestListener): Promise<ListeningServer> {
  const server = createServer(listener);
  return listening(server, () => server.closeAllConnections());
}

/** @param endConnections ends the connections that are open at the end */
export async function listening(
  server: Server,
  endConnections: () => void,
): Promise<ListeningServer> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      endConnections();
      await once(server, 'close');
    },
  };
}
