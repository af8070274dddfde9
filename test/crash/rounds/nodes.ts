// Nodes of one catalog in PostgreSQL and one bucket, each a process of its own.
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../servers/daemon.ts';
import { startServing } from './killable.ts';

const NODE_KEYS = {
  TAPEDECK_ENCRYPTION_KEY: '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff',
  TAPEDECK_ADMIN_TOKEN: 'ak_theSameOnAllNodes0123456789',
  TAPEDECK_STANDBY: 'on',
} as const;

export interface Node {
  readonly base: string;
  readonly serving: ReturnType<typeof startServing>;
}

export interface Nodes extends AsyncDisposable {
  readonly children: ChildProcess[];
  /** Starts, and does not wait until it serves. */
  start(): Promise<Node>;
}

/** @param settings of the bucket, of the catalog, and of whatever else all have */
export function nodesOver(settings: Readonly<Record<string, string>>): Nodes {
  const children: ChildProcess[] = [];
  const folders: string[] = [];
  return {
    children,
    start: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'tapedeck-node-'));
      folders.push(folder);
      const port = String(await freePort());
      const own = { TAPEDECK_FOLDER: folder, TAPEDECK_PORT: port };
      const serving = startServing(folder, children, { ...settings, ...NODE_KEYS, ...own });
      return { base: `http://127.0.0.1:${port}`, serving };
    },
    [Symbol.asyncDispose]: async () => {
      const living = children.filter(
        ({ exitCode, signalCode }) => (exitCode ?? signalCode) === null,
      );
      const ended = living.map((child) => new Promise((resolve) => child.once('exit', resolve)));
      for (const child of living) child.kill('SIGKILL');
      await Promise.all(ended);
      await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
    },
  };
}

/** What it says of who serves, once it can be asked. */
export async function ready({ base }: Node): Promise<string> {
  for (;;) {
    const answer = await fetch(`${base}/readyz`).catch(() => undefined);
    const text = await answer?.text().catch(() => undefined);
    if (answer?.status === 200 && text !== undefined) return text;
    await sleep(30);
  }
}
