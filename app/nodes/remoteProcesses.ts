// Provides the query processes of a node to the serving one.
import type { ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Targets } from '../../api/forward/forward.ts';
import { workerPath, type WorkerKind } from '../../api/forward/nodeConnections.ts';
import type { Settings } from '../../store/base/settings/settings.ts';
import { ownProcesses } from '../../store/duckdb/slot.ts';
import { openFileCopies, type FileCopies } from '../../store/remote/fileCopies.ts';
import { serveExecutor } from '../../store/remote/executorServer.ts';
import { NICENESS } from '../pools.ts';
import { keepConnected } from './servingConnection.ts';

interface RemoteProcesses extends Pick<FileCopies, 'cache'> {
  /** Ends its processes; the serving node retries their requests. */
  close(): Promise<void>;
}

/** Undefined where it provides none. */
export async function startRemoteProcesses(
  {
    bucket: bucketed,
    children,
    data,
    acceptsRemoteQueries: isLending,
    role,
    sqlChildren,
  }: Settings,
  servingNode: Targets,
  onFault: (reason: unknown) => void,
): Promise<RemoteProcesses | undefined> {
  if (bucketed === undefined || !isLending || role === 'api') return undefined;
  const { openS3Bucket } = await import('../../pipeline/targets/s3Bucket.ts');
  const bucket = openS3Bucket(bucketed);
  const folder = join(data, 'lent');
  const copies = await openFileCopies(folder, bucket, bucketed.cacheBytes, onFault);
  const kinds: readonly WorkerKind[] = [
    ...Array.from({ length: children }, () => 'read' as const),
    ...Array.from({ length: sqlChildren }, () => 'sql' as const),
    'ingest',
  ];
  const connections = kinds.map((kind, at) => {
    const start = (): ChildProcess => ownProcesses.start(NICENESS[kind]);
    const parts = { copies, folder: join(folder, `process-${at}`), start };
    const work = (socket: Socket): Promise<void> => serveExecutor({ ...parts, socket });
    return keepConnected(servingNode, workerPath(kind), work, onFault);
  });
  return {
    cache: copies.cache,
    close: async () => {
      await Promise.all(connections.map(({ close }) => close()));
      bucket.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
