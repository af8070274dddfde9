// Starts our server for HTTP benches: in a separate process, or in this process if the bench needs its
// services.
import type { Tapedeck } from '../../app/main.ts';
import { startBench, tokenOf } from '../base/stored.ts';
import { answerOf, ended, forked } from './childAsked.ts';
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

export interface ServerQuestion {
  readonly command: 'memory' | 'close';
}

export interface Begun {
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

export interface Served extends Begun, Side, AsyncDisposable {
  memory(): Promise<Memory>;
}

/** Context of a bench with several measurements. */
export interface OverHttp {
  readonly client: Client;
  readonly server: Served;
  /** Folder for files of the bench. */
  readonly folder: string;
  readonly rows: number;
  readonly pairs: number;
}

/** Serves a filled folder in a separate process. */
export async function served(order: ServerOrder): Promise<Served> {
  const child = forked('./serverProcess.ts', [JSON.stringify(order)]);
  const begun = await answerOf<Begun>(child);
  const send = <Result>(request: ServerQuestion): Promise<Result> => answerOf(child, request);
  return {
    ...begun,
    port: portOf(begun.base),
    pids: [child.pid ?? 0],
    memory: () => send({ command: 'memory' }),
    [Symbol.asyncDispose]: async () => {
      await send({ command: 'close' });
      await ended(child);
    },
  };
}

/** Fills a folder with a server in this process, closes it, and serves the folder in a separate process. */
export async function serveFilled<Made>(
  folder: string,
  settings: Settings,
  fill: (tapedeck: Tapedeck) => Promise<Made>,
  watch = true,
  hopKey?: string,
): Promise<{ readonly server: Served; readonly made: Made }> {
  const tapedeck = await startBench(folder, settings, { watch });
  const made = await fill(tapedeck).finally(() => tapedeck.close());
  return { server: await served({ folder, settings, watch, hopKey }), made };
}

/** Describes a server in this process, whose processor time is that of the whole process. */
export async function servedHere(tapedeck: Tapedeck): Promise<Served> {
  return {
    base: tapedeck.base,
    port: portOf(tapedeck.base),
    pids: [process.pid],
    publishable: await tokenOf(tapedeck, 'publishable'),
    secret: await tokenOf(tapedeck, 'secret'),
    memory: async () => tapedeck.services.series.cache.state(),
    [Symbol.asyncDispose]: tapedeck.close,
  };
}

const portOf = (base: string): number => Number(new URL(base).port);
