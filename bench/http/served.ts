// Our server as a bench meets it over HTTP: in a process of its own, or in this one where the bench needs
// its services.
import type { Tapedeck } from '../../app/main.ts';
import { startBench, tokenOf } from '../base/stored.ts';
import { answerOf, ended, forked } from './childAsked.ts';
import type { Client, Side } from './clientProcess.ts';

export interface ServerOrder {
  readonly folder: string;
  readonly settings: Settings;
  /** false: nothing happens by itself, such as flushes and compaction. */
  readonly watch: boolean;
  /** What other nodes sign with that hand on to it. */
  readonly hopKey?: string | undefined;
}

type Settings = Readonly<Record<string, string>>;

export interface ServerQuestion {
  readonly ask: 'memory' | 'close';
}

export interface Begun {
  readonly base: string;
  readonly publishable: string;
  readonly secret: string;
}

/** Of series in memory. */
interface Memory {
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

export interface Served extends Begun, Side, AsyncDisposable {
  memory(): Promise<Memory>;
}

/** What benches of several measures hand on. */
export interface OverHttp {
  readonly client: Client;
  readonly server: Served;
  /** For files of the bench. */
  readonly folder: string;
  readonly rows: number;
  readonly pairs: number;
}

/** Serves a folder that was filled before. */
export async function served(order: ServerOrder): Promise<Served> {
  const child = forked('./serverProcess.ts', [JSON.stringify(order)]);
  const begun = await answerOf<Begun>(child);
  const ask = <Told>(question: ServerQuestion): Promise<Told> => answerOf(child, question);
  return {
    ...begun,
    port: portOf(begun.base),
    pids: [child.pid ?? 0],
    memory: () => ask({ ask: 'memory' }),
    [Symbol.asyncDispose]: async () => {
      await ask({ ask: 'close' });
      await ended(child);
    },
  };
}

/** Fills a folder by a server of this process, ends it, and serves what is there. */
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

/** A server of this process, whose processor time is that of the whole process. */
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
