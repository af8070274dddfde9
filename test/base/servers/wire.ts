// A wire that can break: a TCP server that passes every byte on to another port, until it is told
// to let none through any more, or to fall.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Wire extends AsyncDisposable {
  readonly port: number;
  /** From now on: bytes from the server of each connection that pass, and what happens then. */
  breakAfter(bytes: number, how: 'close' | 'stall'): void;
  mend(): void;
  /** Ends all connections at once: what was sent last does not arrive. */
  cut(): void;
}

/** @param host where it listens */
export async function startWire(toPort: number, host = '127.0.0.1'): Promise<Wire> {
  let fault: { readonly bytes: number; readonly how: 'close' | 'stall' } | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(toPort, '127.0.0.1');
    let passed = 0;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.on('data', (chunk: Buffer) => {
      const room = fault === undefined ? chunk.length : Math.max(0, fault.bytes - passed);
      passed += chunk.length;
      const flows = near.write(chunk.subarray(0, room));
      if (room < chunk.length && fault?.how === 'close') near.destroySoon();
      if (flows) return;
      far.pause();
      near.once('drain', () => far.resume());
    });
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    breakAfter: (bytes, how) => {
      fault = { bytes, how };
    },
    mend: () => {
      fault = undefined;
    },
    cut,
    [Symbol.asyncDispose]: async () => {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}
