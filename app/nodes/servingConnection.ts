// Connections of a node to the serving one, reconnected until they are closed.
import type { Socket } from 'node:net';
import type { Targets } from '../../api/forward/forward.ts';
import type { Target } from '../../api/forward/proxyRequest.ts';
import { openNodeConnection } from '../../api/forward/nodeConnections.ts';
import { systemClock } from '../../store/base/clock.ts';

/** Delay after a refused connection. */
export const RECONNECT_MS = 500;

/** Undefined where it is refused: after a delay, or when another node serves. */
export async function servingConnection(
  serving: Targets,
  path: string,
  ending: AbortSignal,
): Promise<{ readonly target: Target; readonly socket: Socket } | undefined> {
  const target = serving.current();
  const connecting = target && openNodeConnection(target, path, systemClock, ending);
  const socket = await connecting?.catch(() => undefined);
  if (ending.aborted) return void socket?.destroy();
  if (target !== undefined && socket !== undefined) return { target, socket };
  await serving.waitForChange(RECONNECT_MS);
  return undefined;
}

/**
 * Keeps one connection to the serving node, and runs `work` over each until it ends.
 * @param onFault receives a failure of `work`, after which the node connects again, as after a refusal
 */
export function keepConnected(
  serving: Targets,
  path: string,
  work: (socket: Socket) => Promise<void>,
  onFault: (reason: unknown) => void,
): { readonly close: () => Promise<void> } {
  const ending = new AbortController();
  let open: Socket | undefined;
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      open = (await servingConnection(serving, path, ending.signal))?.socket;
      if (open === undefined) continue;
      try {
        await work(open);
      } catch (reason) {
        onFault(reason);
        await serving.waitForChange(RECONNECT_MS);
      }
    }
  };
  const running = run();
  return {
    close: async () => {
      ending.abort();
      open?.destroy();
      await running;
    },
  };
}
