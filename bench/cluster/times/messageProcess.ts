// Process that answers each line of a connection with a line: the minimum cost of a message between nodes.
import { createServer, type AddressInfo } from 'node:net';
import { serveParent } from '../../http/childRequests.ts';

serveParent(async () => {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('data', (bytes: Buffer) => {
      for (const byte of bytes) if (byte === 10) socket.write('heard\n');
    });
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen({ host: '127.0.0.1', port: 0 }, resolve);
  await promise;
  return (server.address() as AddressInfo).port;
});
