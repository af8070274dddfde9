// Connections to one node. Where one breaks, the others may be of a process that is about to end: what is
// sent on them would be lost, while a new connection is refused, and the request is known not to have begun.
import type { Agent } from 'node:http';

export interface RenewedAgent {
  readonly now: () => Agent;
  /** From here on new connections only; what is on its way on the former ones goes on. */
  readonly renew: () => void;
  readonly destroy: () => void;
}

export function renewedAgent(make: () => Agent): RenewedAgent {
  let agent = make();
  let former: readonly Agent[] = [];
  return {
    now: () => agent,
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
