// Connections of a node to the one that serves, which are made again and again.
import type { Socket } from 'node:net';
import type { Targets } from '../../api/forward/forward.ts';
import type { Target } from '../../api/forward/hop.ts';
import { openNodeConnection } from '../../api/forward/nodeDoor.ts';
import { systemClock } from '../../store/base/clock.ts';

/** How long a node waits where its connection was not taken. */
export const AGAIN_MS = 500;

/** Undefined, after a while or when another one serves, where nobody takes it. */
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
  await serving.changed(AGAIN_MS);
  return undefined;
}

/** One connection after the other, each worked over until it ends; whoever serves has it. */
export function connectAgain(
  serving: Targets,
  path: string,
  work: (socket: Socket) => Promise<void>,
): { readonly close: () => Promise<void> } {
  const ending = new AbortController();
  let open: Socket | undefined;
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      open = (await servingConnection(serving, path, ending.signal))?.socket;
      if (open !== undefined) await work(open);
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
