// Nodes of one catalog in PostgreSQL and one bucket, each in its own process.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../base/servers/daemon.ts';
import type { Host } from '../../../base/servers/hosts.ts';
import { type Postgres, startPostgres } from '../../../base/servers/postgres.ts';
import { startSwift } from '../../../base/servers/swift.ts';
import type { Wire } from '../../../base/servers/wire.ts';
import { lakeInBucket } from '../../../store/bucket/lakeInBucket.ts';
import { fetchText, DATED, served, startServing } from '../rounds/killable.ts';

export const ADMIN_TOKEN = 'ak_theSameOnAllNodes0123456789';
/** Settings of all nodes. */
export const NODE_KEYS = {
  TAPEDECK_ENCRYPTION_KEY: '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff',
  TAPEDECK_ADMIN_TOKEN: ADMIN_TOKEN,
  TAPEDECK_STANDBY: 'on',
} as const;

/** Port of a node on its own host. */
const HOST_PORT = 8080;

export interface Node {
  readonly base: string;
  /** Its data folder. */
  readonly folder: string;
  readonly serving: ReturnType<typeof startServing>;
}

export interface Nodes extends AsyncDisposable {
  readonly children: ChildProcess[];
  /** Starts a node without waiting until it serves. @param env additional settings of this node */
  start(host?: Host, env?: Readonly<Record<string, string>>): Promise<Node>;
}

/** @param settings of the bucket, of the catalog, and any others of all nodes */
export function nodesOver(settings: Readonly<Record<string, string>>): Nodes {
  const children: ChildProcess[] = [];
  const folders: string[] = [];
  return {
    children,
    start: async (host, env = {}) => {
      const folder = await mkdtemp(join(tmpdir(), 'tapedeck-node-'));
      folders.push(folder);
      const port = String(host === undefined ? await freePort() : HOST_PORT);
      const address = host?.address ?? '127.0.0.1';
      const own = { TAPEDECK_FOLDER: folder, TAPEDECK_HOST: address, TAPEDECK_PORT: port, ...env };
      const all = { ...settings, ...NODE_KEYS, ...own };
      const serving = startServing(folder, children, all, host?.under);
      return { base: `http://${address}:${port}`, folder, serving };
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

interface NodesHere extends AsyncDisposable {
  readonly postgres: Postgres;
  /** Connection to the bucket. */
  readonly wire: Wire;
  readonly nodes: Nodes;
  /** The first one serves. */
  readonly living: Node[];
}

/** Starts `count` nodes over their own servers, with dataset `WS.K`. @param settings of all, such as a bus */
export async function startNodes(
  count: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<NodesHere> {
  await using stack = new AsyncDisposableStack();
  const [postgres, swift] = await Promise.all([startPostgres(), startSwift()]);
  assert.ok(postgres !== undefined && swift !== undefined, 'PostgreSQL or Swift is not here');
  stack.use(postgres);
  stack.use(swift);
  const lake = stack.use(await lakeInBucket(swift));
  const catalog = { TAPEDECK_DATABASE: `${postgres.url()}?schema=nodes` };
  const nodes = stack.use(nodesOver({ ...lake.settings, ...catalog, ...settings }));
  const first = await nodes.start();
  await withDataset((await served(first.serving)).base);
  const living = [first];
  while (living.length < count) living.push(await nodes.start());
  await Promise.all(living.map(ready));
  const owned = stack.move();
  return {
    postgres,
    wire: lake.wire,
    nodes,
    living,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export async function withDataset(base: string): Promise<void> {
  await fetchText(base, 'POST', '/workspaces', '{"name":"WS"}');
  await fetchText(base, 'POST', '/datasets/WS', JSON.stringify({ dataset: DATED }));
}

/** Waits for the node's `/readyz` text, which names the serving node. @throws Error once it has ended */
export async function ready({ base, serving: { child, output } }: Node): Promise<string> {
  for (;;) {
    if ((child.exitCode ?? child.signalCode) !== null)
      throw new Error(`it ended: ${output.stderr}`);
    const answer = await fetch(`${base}/readyz`).catch(() => undefined);
    const text = await answer?.text().catch(() => undefined);
    if (answer?.status === 200 && text !== undefined) return text;
    await sleep(30);
  }
}
