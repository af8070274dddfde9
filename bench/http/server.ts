// Starts our server for HTTP benches: in a separate process, or in this process if the bench needs its
// services.
import type { Tapedeck } from '../../app/main.ts';
import { startBench, findToken } from '../base/stored.ts';
import { requestChild, endChild, forkChild } from './childRequests.ts';
import type { Client, Side } from './clientProcess.ts';

export interface ServerOrder {
  readonly folder: string;
  readonly settings: Settings;
  /** false disables background work, such as flushes and compaction. */
  readonly watch: boolean;
  /** Signing key of nodes that forward to it. */
  readonly hopKey?: string | undefined;
}

type Settings = Readonly<Record<string, string>>;

export interface ServerRequest {
  readonly command: 'memory' | 'close';
}

export interface ServerInfo {
  readonly base: string;
  readonly publishable: string;
  readonly secret: string;
}

/** State of the series cache. */
interface Memory {
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

export interface BenchServer extends ServerInfo, Side, AsyncDisposable {
  memory(): Promise<Memory>;
}

/** Context of a bench with several measurements. */
export interface HttpBench {
  readonly client: Client;
  readonly server: BenchServer;
  /** Folder for files of the bench. */
  readonly folder: string;
  readonly rows: number;
  readonly pairs: number;
}

/** Serves a filled folder in a separate process. */
export async function startServer(order: ServerOrder): Promise<BenchServer> {
  const child = forkChild('./serverProcess.ts', [JSON.stringify(order)]);
  const info = await requestChild<ServerInfo>(child);
  const send = <Result>(request: ServerRequest): Promise<Result> => requestChild(child, request);
  return {
    ...info,
    port: portOf(info.base),
    pids: [child.pid ?? 0],
    memory: () => send({ command: 'memory' }),
    [Symbol.asyncDispose]: async () => {
      await send({ command: 'close' });
      await endChild(child);
    },
  };
}

/** Fills a folder with a server in this process, closes it, and serves the folder in a separate process. */
export async function serveFilled<Content>(
  folder: string,
  settings: Settings,
  fill: (tapedeck: Tapedeck) => Promise<Content>,
  watch = true,
  hopKey?: string,
): Promise<{ readonly server: BenchServer; readonly content: Content }> {
  const tapedeck = await startBench(folder, settings, { watch });
  const content = await fill(tapedeck).finally(() => tapedeck.close());
  return { server: await startServer({ folder, settings, watch, hopKey }), content };
}

/** Describes a server in this process, whose processor time is that of the whole process. */
export async function serveInProcess(tapedeck: Tapedeck): Promise<BenchServer> {
  return {
    base: tapedeck.base,
    port: portOf(tapedeck.base),
    pids: [process.pid],
    publishable: await findToken(tapedeck, 'publishable'),
    secret: await findToken(tapedeck, 'secret'),
    memory: async () => tapedeck.services.series.cache.state(),
    [Symbol.asyncDispose]: tapedeck.close,
  };
}

const portOf = (base: string): number => Number(new URL(base).port);
