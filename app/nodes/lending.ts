// What a node does while another one serves, beside handing on: its query processes are that node's too.
import type { ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Targets } from '../../api/forward/forward.ts';
import { lendPath, type LentKind } from '../../api/forward/nodeDoor.ts';
import type { Settings } from '../../store/base/settings.ts';
import { ownProcesses } from '../../store/duckdb/slot.ts';
import { copiesIn, type Copies } from '../../store/lent/copies.ts';
import { lend } from '../../store/lent/lender.ts';
import { NICENESS } from '../pools.ts';
import { servingConnection } from './servingConnection.ts';

interface Lending extends Pick<Copies, 'gone'> {
  /** Ends its processes; their requests are asked again by who asked. */
  close(): Promise<void>;
}

/** Undefined where it lends none. */
export async function startLending(
  { bucket: bucketed, children, data, lend: isLending, role, sqlChildren }: Settings,
  borrower: Targets,
  onFault: (reason: unknown) => void,
): Promise<Lending | undefined> {
  if (bucketed === undefined || !isLending || role === 'api') return undefined;
  const { openS3Bucket } = await import('../../pipeline/targets/s3Bucket.ts');
  const bucket = openS3Bucket(bucketed);
  const folder = join(data, 'lent');
  const copies = await copiesIn(folder, bucket, bucketed.cacheBytes, onFault);
  const ending = new AbortController();
  const open = new Map<Socket, Promise<void>>();
  const kinds: readonly LentKind[] = [
    ...Array.from({ length: children }, () => 'read' as const),
    ...Array.from({ length: sqlChildren }, () => 'sql' as const),
  ];
  for (const [at, kind] of kinds.entries()) {
    const parts = { borrower, copies, open, ending: ending.signal };
    void lendAgain(kind, { ...parts, folder: join(folder, `process-${at}`) });
  }
  return {
    gone: copies.gone,
    close: async () => {
      ending.abort();
      for (const socket of open.keys()) socket.destroy();
      await Promise.all(open.values());
      bucket.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface LendingParts {
  readonly borrower: Targets;
  readonly copies: Copies;
  readonly open: Map<Socket, Promise<void>>;
  readonly ending: AbortSignal;
  readonly folder: string;
}

/** One process at a time, to whoever serves. */
async function lendAgain(
  kind: LentKind,
  { borrower, copies, ending, folder, open }: LendingParts,
): Promise<void> {
  while (!ending.aborted) {
    const socket = (await servingConnection(borrower, lendPath(kind), ending))?.socket;
    if (socket === undefined) continue;
    const start = (): ChildProcess => ownProcesses.start(NICENESS[kind]);
    const lending = lend({ socket, copies, folder, start });
    open.set(socket, lending);
    await lending;
    open.delete(socket);
  }
}
