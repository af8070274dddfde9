// What a node does for the one that serves, beside handing on: it works on loads.
import type { Socket } from 'node:net';
import type { Targets } from '../../api/forward/forward.ts';
import { LOAD_PATH } from '../../api/forward/nodeDoor.ts';
import { takeLoads } from '../../jobs/elsewhere/taking.ts';
import { inputDefaults } from '../../market/inputs/inputDefaults.ts';
import type { Settings } from '../../store/base/settings.ts';
import { ingestPool } from '../pools.ts';
import type { Reading } from './reading.ts';
import { servingConnection } from './servingConnection.ts';

interface Loading {
  /** Ends its loads: they are worked on again where they are from. */
  close(): Promise<void>;
}

interface LoadingParts extends Pick<Reading, 'place'> {
  /** Of this node. */
  readonly name: string;
  readonly settings: Settings;
  readonly serving: Targets;
}

/** As many loads at once as this node would work on if it served; undefined where it lends nothing. */
export function startLoading({
  name,
  place,
  serving,
  settings,
}: LoadingParts): Loading | undefined {
  if (!settings.lend || settings.role === 'api') return undefined;
  const pool = ingestPool(settings);
  const parts = { ...place, name, pool, defaultsOf: inputDefaults };
  const ending = new AbortController();
  const open = new Set<Socket>();
  const again = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const socket = (await servingConnection(serving, LOAD_PATH, ending.signal))?.socket;
      if (socket === undefined) continue;
      open.add(socket);
      await takeLoads({ ...parts, socket });
      open.delete(socket);
    }
  };
  const running = Array.from({ length: settings.jobsAtOnce }, again);
  return {
    close: async () => {
      ending.abort();
      for (const socket of open) socket.destroy();
      await Promise.all(running);
      await pool.close();
    },
  };
}
