// Works on loads of the serving node.
import type { Socket } from 'node:net';
import type { Targets } from '../../api/forward/forward.ts';
import { LOAD_PATH } from '../../api/forward/nodeConnections.ts';
import { workOnLoads } from '../../jobs/remote/worker.ts';
import { inputDefaults } from '../../market/files/inputDefaults.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { ingestPool } from '../pools.ts';
import type { Reading } from './replicaReads.ts';
import { keepConnected } from './servingConnection.ts';

interface Loading {
  /** Ends its loads: the serving node runs them again. */
  close(): Promise<void>;
}

interface LoadingParts extends Pick<Reading, 'place'> {
  /** Name of this node. */
  readonly name: string;
  readonly settings: Settings;
  readonly serving: Targets;
  readonly onFault: (reason: unknown) => void;
}

/** Works on as many concurrent loads as this node would if it served; undefined where it provides none. */
export function startLoadWorkers({
  name,
  onFault,
  place,
  serving,
  settings,
}: LoadingParts): Loading | undefined {
  if (!settings.acceptsRemoteQueries || settings.role === 'api') return undefined;
  const pool = ingestPool(settings);
  const parts = { ...place, name, pool, defaultsOf: inputDefaults };
  const work = (socket: Socket): Promise<void> => workOnLoads({ ...parts, socket });
  const connections = Array.from({ length: settings.jobConcurrency }, () =>
    keepConnected(serving, LOAD_PATH, work, onFault),
  );
  return {
    close: async () => {
      await Promise.all(connections.map(({ close }) => close()));
      await pool.close();
    },
  };
}
