// Forwarding node in a separate process: only the listener and the forwarder of a node, with a fixed target
// server, so that no catalog is needed to find it.
import { Agent } from 'node:http';
import { signProxyHeader } from '../../../api/auth/proxyIdentity.ts';
import { makeForwarder } from '../../../api/forward/forward.ts';
import { openFrontServer } from '../../../api/forward/frontServer.ts';
import { nodeReachability } from '../../../api/forward/reachability.ts';
import { makeRenewedAgent } from '../../../api/forward/renewedAgent.ts';
import { systemClock } from '../../../store/base/clock.ts';
import { clientAddress, parseAddresses } from '../../../store/base/addresses.ts';
import { serveParent } from '../../http/childRequests.ts';
import type { FrontOrder } from './front.ts';

/** Timeout of app/nodes. */
const WAIT_MS = 15_000;

const nobody = parseAddresses([]);

serveParent(async ({ base, hopKey }: FrontOrder) => {
  const options = { keepAlive: true, maxFreeSockets: 256 };
  const connections = (): Agent => new Agent(options);
  const [agent, url] = [makeRenewedAgent(connections), new URL(base)];
  const reach = nodeReachability(url, agent, connections);
  const target = { id: 'serving', url, proxyKey: hopKey, agent, reachability: reach };
  const forward = makeForwarder({
    targets: { current: () => target, waitForChange: async () => undefined },
    signHeader: ({ proxyKey: key }, incoming) => {
      const address = clientAddress(incoming.socket.remoteAddress ?? '', undefined, nobody);
      return signProxyHeader({ key, clock: systemClock }, incoming, address);
    },
    waitMs: WAIT_MS,
    recordOutcome: () => undefined,
  });
  const own = (): undefined => undefined;
  const place = { host: '127.0.0.1', port: 0, https: undefined };
  const { port } = await openFrontServer({ ...place, forward, answerLocally: own });
  return port;
});
