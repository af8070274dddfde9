// Writes with an Idempotency-Key while nodes end, into a dataset without unique index: each is sent through
// any node until it is acknowledged, and is stored once.
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchText, headers } from '../rounds/killable.ts';
import type { Seeded } from '../rounds/seeded.ts';
import type { Node } from './nodes.ts';

const CLIENTS = 2;
const DATASET = 'ONCE';

export interface NodeOnce {
  /** Writes until it is over, and then until every write is acknowledged. */
  run(isOver: () => boolean, random: Seeded): Promise<void>;
  faults(base: string): Promise<readonly string[]>;
  summary(): string;
}

/** @param anyNode returns one of the running nodes */
export function nodeOnce(anyNode: () => Node): NodeOnce {
  let [begun, again] = [0, 0];
  const write = async (n: number, random: Seeded): Promise<void> => {
    const path = random.chance(0.2) ? `data/WS/${DATASET}` : `record/WS/${DATASET}`;
    const init = {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': `once-${n}` },
      body: JSON.stringify([{ symbol: 'A', n }]),
    };
    for (;;) {
      const url = `${anyNode().base}/v1/${path}`;
      const status = await fetch(url, init)
        .then(async (answer) => (await answer.text()) && answer.status)
        .catch(() => 0);
      if (status === 200) return;
      again += 1;
      await sleep(50);
    }
  };
  const client = async (isOver: () => boolean, random: Seeded): Promise<void> => {
    while (!isOver()) await write((begun += 1), random);
  };
  return {
    run: async (isOver, random) => {
      const clients = Array.from({ length: CLIENTS }, () => client(isOver, random.fork()));
      await Promise.all(clients);
    },
    faults: async (base) => {
      const wrong = await timesOf(base, begun);
      // Acknowledged loads may still be queued.
      for (let tries = 0; wrong.length > 0 && tries < 20; tries += 1) {
        await sleep(250);
        wrong.splice(0, wrong.length, ...(await timesOf(base, begun)));
      }
      return wrong;
    },
    summary: () => `${begun} writes with keys, ${again} sent again`,
  };
}

async function timesOf(base: string, begun: number): Promise<string[]> {
  const text = await fetchText(base, 'GET', `/data/WS/${DATASET}?limit=100000`);
  const times = new Map<number, number>();
  for (const { n } of JSON.parse(text) as readonly { readonly n: number }[]) {
    times.set(n, (times.get(n) ?? 0) + 1);
  }
  const all = Array.from({ length: begun }, (_, at) => at + 1);
  const wrong = all.filter((n) => times.get(n) !== 1);
  return wrong.map((n) => `write ${n} with a key is stored ${times.get(n) ?? 0} times`);
}
