// Renews the connections to one node. If one breaks, the others may belong to a process that is about to end
// and would lose requests, while a refused new connection proves that the request has not begun.
import type { Agent } from 'node:http';

export interface RenewedAgent {
  readonly current: () => Agent;
  /** Uses only new connections from now on; requests on the former ones continue. */
  readonly renew: () => void;
  readonly destroy: () => void;
}

export function makeRenewedAgent(make: () => Agent): RenewedAgent {
  let agent = make();
  let former: readonly Agent[] = [];
  return {
    current: () => agent,
    renew: () => {
      agent.maxFreeSockets = 0;
      for (const sockets of Object.values(agent.freeSockets)) {
        for (const socket of sockets ?? []) socket.destroy();
      }
      former = [...former, agent].filter(({ sockets }) => Object.keys(sockets).length > 0);
      agent = make();
    },
    destroy: () => {
      for (const one of [...former, agent]) one.destroy();
      former = [];
    },
  };
}
