// Provides the query processes of a node to the serving one.
import type { ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Targets } from '../../api/forward/forward.ts';
import { lendPath, type LentKind } from '../../api/forward/nodeDoor.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { ownProcesses } from '../../store/duckdb/slot.ts';
import { copiesIn, type Copies } from '../../store/lent/copies.ts';
import { lend } from '../../store/lent/lender.ts';
import { NICENESS } from '../pools.ts';
import { connectAgain } from './servingConnection.ts';

interface RemoteProcesses extends Pick<Copies, 'gone'> {
  /** Ends its processes; the serving node retries their requests. */
  close(): Promise<void>;
}

/** Undefined where it provides none. */
export async function startLending(
  { bucket: bucketed, children, data, lend: isLending, role, sqlChildren }: Settings,
  servingNode: Targets,
  onFault: (reason: unknown) => void,
): Promise<RemoteProcesses | undefined> {
  if (bucketed === undefined || !isLending || role === 'api') return undefined;
  const { openS3Bucket } = await import('../../pipeline/targets/s3Bucket.ts');
  const bucket = openS3Bucket(bucketed);
  const folder = join(data, 'lent');
  const copies = await copiesIn(folder, bucket, bucketed.cacheBytes, onFault);
  const kinds: readonly LentKind[] = [
    ...Array.from({ length: children }, () => 'read' as const),
    ...Array.from({ length: sqlChildren }, () => 'sql' as const),
    'ingest',
  ];
  const connections = kinds.map((kind, at) => {
    const start = (): ChildProcess => ownProcesses.start(NICENESS[kind]);
    const parts = { copies, folder: join(folder, `process-${at}`), start };
    return connectAgain(servingNode, lendPath(kind), (socket) => lend({ ...parts, socket }));
  });
  return {
    gone: copies.gone,
    close: async () => {
      await Promise.all(connections.map(({ close }) => close()));
      bucket.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
