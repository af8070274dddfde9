// Works on loads of the serving node.
import type { Targets } from '../../api/forward/forward.ts';
import { LOAD_PATH } from '../../api/forward/nodeDoor.ts';
import { takeLoads } from '../../jobs/elsewhere/taking.ts';
import { inputDefaults } from '../../market/files/inputDefaults.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { ingestPool } from '../pools.ts';
import type { Reading } from './reading.ts';
import { connectAgain } from './servingConnection.ts';

interface Loading {
  /** Ends its loads: the serving node runs them again. */
  close(): Promise<void>;
}

interface LoadingParts extends Pick<Reading, 'place'> {
  /** Name of this node. */
  readonly name: string;
  readonly settings: Settings;
  readonly serving: Targets;
}

/** Works on as many concurrent loads as this node would if it served; undefined where it provides none. */
export function startLoading({
  name,
  place,
  serving,
  settings,
}: LoadingParts): Loading | undefined {
  if (!settings.lend || settings.role === 'api') return undefined;
  const pool = ingestPool(settings);
  const parts = { ...place, name, pool, defaultsOf: inputDefaults };
  const connections = Array.from({ length: settings.jobsAtOnce }, () =>
    connectAgain(serving, LOAD_PATH, (socket) => takeLoads({ ...parts, socket })),
  );
  return {
    close: async () => {
      await Promise.all(connections.map(({ close }) => close()));
      await pool.close();
    },
  };
}
