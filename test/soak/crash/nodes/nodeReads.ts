// Readers concurrent with the writers of nodes: each reads from any node, by a series or by SQL, and never
// gets an older version than any that was acknowledged, or read by anybody, before its request.
import { setTimeout as sleep } from 'node:timers/promises';
import { headers } from '../rounds/killable.ts';
import type { Node } from './nodes.ts';
import type { Seeded } from '../rounds/seeded.ts';

const READERS = 2;
/** Between two reads of one reader, to leave processor time to the others. */
const PAUSE_MS = 10;

/** One writer's record, with its acknowledged and sent versions. */
interface Written {
  readonly symbol: string;
  readonly acknowledged: number;
  readonly sent: number;
}

export interface NodeReads extends AsyncDisposable {
  /** Faults since the last call. */
  faults(): readonly string[];
  /** Number of reads that were answered. */
  answered(): number;
}

export function nodeReads(
  anyNode: () => Node,
  writers: readonly Written[],
  random: Seeded,
): NodeReads {
  const read = new Map<string, number>();
  const wrong: string[] = [];
  let [answered, isOver] = [0, false];
  const reading = async (own: Seeded): Promise<void> => {
    const [first, ...rest] = writers;
    while (!isOver && first !== undefined) {
      await sleep(PAUSE_MS);
      const writer = own.pick([first, ...rest]);
      const { symbol } = writer;
      const least = Math.max(writer.acknowledged, read.get(symbol) ?? 0);
      const { base } = anyNode();
      const path = own.pick([seriesOf, queryOf] as const)(symbol);
      const version = await valueOf(`${base}/v1${path}`);
      if (version === undefined) continue;
      answered += 1;
      read.set(symbol, Math.max(version, read.get(symbol) ?? 0));
      if (version < least || version > writer.sent) {
        wrong.push(`${path} at ${base}: ${version}, after ${least} of ${writer.sent}`);
      }
    }
  };
  const running = Array.from({ length: READERS }, () => reading(random.fork()));
  return {
    answered: () => answered,
    faults: () => wrong.splice(0),
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      await Promise.all(running);
    },
  };
}

const seriesOf = (symbol: string): string => `/data/WS/K/${symbol}?last=1`;
const queryOf = (symbol: string): string =>
  `/sql-query/WS?sqlQuery=${encodeURIComponent(`SELECT max(v) AS v FROM K WHERE symbol = '${symbol}'`)}`;

/** 0 if there is no record; undefined if no node answered. */
async function valueOf(url: string): Promise<number | undefined> {
  try {
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(60_000) });
    const text = await answer.text();
    if (answer.status !== 200) return undefined;
    return (JSON.parse(text) as readonly { readonly v: number | null }[])[0]?.v ?? 0;
  } catch {
    return undefined;
  }
}
