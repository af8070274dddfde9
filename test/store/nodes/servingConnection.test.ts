// A node keeps its connection to the serving node, also after a failure of its own work.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'vitest';
import { acceptNodes, workerPath } from '../../../api/forward/nodeConnections.ts';
import { makeRenewedAgent } from '../../../api/forward/renewedAgent.ts';
import { keepConnected } from '../../../app/nodes/servingConnection.ts';

const proxyKey = 'ab'.repeat(32);

test('failed work is reported, and the node connects again', async () => {
  const server = createServer();
  const sockets: Socket[] = [];
  const accept = (socket: Socket): void => void sockets.push(socket.on('error', () => undefined));
  acceptNodes(
    server,
    { key: proxyKey, clock: Date.now },
    {
      onWorker: (_, socket) => accept(socket),
      onLoads: accept,
      onFollower: (_, socket) => accept(socket),
    },
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const target = {
    id: 'a',
    url: new URL(`http://127.0.0.1:${port}`),
    agent: makeRenewedAgent(() => new Agent()),
    reachability: { checkReachable: async () => true, watch: () => () => undefined },
    proxyKey,
  };
  const serving = { current: () => target, waitForChange: async () => undefined };
  const faults: unknown[] = [];
  const again = Promise.withResolvers<void>();
  let connections = 0;
  const work = async (socket: Socket): Promise<void> => {
    connections += 1;
    if (connections === 1) {
      socket.destroy();
      throw new Error('the folder is not empty');
    }
    again.resolve();
    await once(socket, 'close');
  };
  const onFault = (reason: unknown): void => void faults.push(reason);
  const connection = keepConnected(serving, workerPath('read'), work, onFault);
  await again.promise;
  await connection.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  assert.deepEqual(faults.map(String), ['Error: the folder is not empty']);
});
