// A wire that can break: a TCP proxy that forwards every byte to another port, until it is set
// to stall or to close.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Wire extends AsyncDisposable {
  readonly port: number;
  /** From now on, each connection forwards this many bytes from the server, and then breaks. */
  breakAfter(bytes: number, how: 'close' | 'stall'): void;
  mend(): void;
  /** Ends all connections immediately: the last bytes do not arrive. */
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
