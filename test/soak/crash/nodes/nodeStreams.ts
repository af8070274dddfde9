// Readers that reconnect to other nodes while the serving node ends: they receive rising versions of each
// record, no version twice, the stored version last, and the record of each load once.
import { setTimeout as sleep } from 'node:timers/promises';
import { TOKENS } from '../rounds/killable.ts';
import type { Node } from './nodes.ts';
import { type GoingReader, goingReader } from '../rounds/streamReader.ts';

export interface NodeStreams extends AsyncDisposable {
  /** Faults of the messages received so far. @param stored versions by symbol: all are published soon */
  faults(stored: ReadonlyMap<string, number>): Promise<readonly string[]>;
  /** Number of received messages. */
  heard(): number;
  /** Messages of the reader that received fewest. */
  leastHeard(): number;
}

const PATH = '/stream/WS/K?nosnapshot=true';
/** A server start takes seconds on a busy machine. */
const SOON_MS = 30_000;

/** @param next returns a node that accepts requests, a different one each time */
export async function nodeStreams(next: () => Node): Promise<NodeStreams> {
  const readers = ['', '&keys=W0,W1'].map((keys) =>
    goingReader({ path: `${PATH}${keys}`, token: TOKENS.publishable, base: () => next().base }),
  );
  while (!readers.every(({ isOpen }) => isOpen())) await sleep(20);
  return {
    heard: () => readers.reduce((sum, { messages }) => sum + messages.length, 0),
    leastHeard: () => Math.min(...readers.map(({ messages }) => messages.length)),
    faults: async (stored) => {
      const all = await Promise.all(
        readers.map((reader, at) => faultsOf(reader, at === 0 ? stored : ofKeys(stored))),
      );
      return all.flat();
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(readers.map((reader) => reader.end()));
    },
  };
}

const ofKeys = (stored: ReadonlyMap<string, number>): ReadonlyMap<string, number> =>
  new Map([...stored].filter(([symbol]) => ['W0', 'W1'].includes(symbol)));

async function faultsOf(
  { gaps, messages }: GoingReader,
  stored: ReadonlyMap<string, number>,
): Promise<readonly string[]> {
  const newest = new Map<string, number>();
  const faults: string[] = [];
  let read = 0;
  const readOn = (): void => {
    for (; read < messages.length; read += 1) {
      const [{ symbol, v } = { symbol: '', v: -1 }] = JSON.parse(messages[read] ?? '[]') as {
        readonly symbol: string;
        readonly v: number;
      }[];
      const last = newest.get(symbol) ?? -1;
      if (v <= last) faults.push(`stream: ${symbol} ${v} after ${last}`);
      newest.set(symbol, v);
    }
  };
  const missing = (): readonly string[] =>
    [...stored].filter(([symbol, v]) => newest.get(symbol) !== v).map(([symbol]) => symbol);
  readOn();
  for (let waited = 0; missing().length > 0 && waited < SOON_MS; waited += 50) {
    await sleep(50);
    readOn();
  }
  for (const symbol of missing()) {
    faults.push(`stream: ${symbol} ${newest.get(symbol)} where ${stored.get(symbol)} is stored`);
  }
  for (const gap of gaps) faults.push(`stream: a gap ${gap}`);
  return faults;
}
