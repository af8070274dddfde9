// Writes with an Idempotency-Key and kill -9: clients push and load records into a dataset without unique
// index, the server dies at a named point, and each client retries its request until it is answered. Each
// record is stored once, and a repeated request gets the answer of the first one.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Order, type Report, type Seeded, seeded } from './seeded.ts';
import { COMMIT_POINTS, Victim } from '../victim/victimProcess.ts';
import type { Door } from '../victim/writer.ts';

const WRITERS = 4;
const ROUND_MS_MAX = 3_000;
const POINTS = ['pushes-written', 'pushes-committed', 'job-recorded', ...COMMIT_POINTS] as const;
const DATASET = 'ONCE';

/** A write of one record: pushed, stored by its own load, or submitted as a job. */
const WAYS = {
  push: '/record/WS/ONCE?',
  exact: '/record/WS/ONCE?duplicates=keep-all&dateOrder=MDY&',
  job: '/data/WS/ONCE?wait=true&',
} as const;

interface Write {
  readonly n: number;
  readonly way: keyof typeof WAYS;
  /** Text of its first answer. */
  text: string | undefined;
}

/** Kills the server of one folder `count` times. */
export async function onceRounds({ count, log, seed }: Order): Promise<Report> {
  const random = seeded(seed);
  const folder = await mkdtemp(join(tmpdir(), 'tapedeck-once-'));
  const writes: Write[] = [];
  const failures: string[] = [];
  let victim = await Victim.start(folder);
  try {
    await sent(victim.door, { n: -1, way: 'push', text: undefined });
    for (let round = 0; round < count; round += 1) {
      await victim.arm({ point: random.pick(POINTS), passes: random.between(0, 4) });
      const began = writes.length;
      await traffic(victim, writes, random);
      const where = `seed ${seed}, round ${round}, ${victim.killedAt ?? 'no point reached'}`;
      await victim[Symbol.asyncDispose]();
      victim = await Victim.start(folder);
      const faults = await faultsOf(victim.door, writes, began);
      failures.push(...faults.map((fault) => `${where}: ${fault}`));
    }
    for (const what of await victim.close()) failures.push(`seed ${seed}: ${what}`);
  } finally {
    await victim[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
  log(`seed ${seed}: ${count} kills, ${writes.length} writes`);
  return { seed, count, failures, notes: [`${writes.length} writes with keys`] };
}

async function traffic(victim: Victim, writes: Write[], random: Seeded): Promise<void> {
  const writer = async (): Promise<void> => {
    while (!victim.isGone) {
      const way = random.pick(['push', 'push', 'exact', 'job'] as const);
      const write: Write = { n: writes.length, way, text: undefined };
      writes.push(write);
      write.text = await sent(victim.door, write).catch(() => undefined);
    }
  };
  const writers = Array.from({ length: WRITERS }, writer);
  await Promise.race([victim.exited(), sleep(ROUND_MS_MAX, undefined, { ref: false })]);
  victim.kill(false);
  await Promise.all(writers);
  await victim.exited();
}

/** Sends a write; returns the text of its answer, undefined for any status but 200. */
async function sent({ base, secret }: Door, { n, way }: Write): Promise<string | undefined> {
  // Only a load accepts a time without seconds.
  const time = way === 'exact' ? '2024-01-01 10:00' : '2024-01-01T10:00:00Z';
  const answer = await fetch(`${base}/v1${WAYS[way]}token=${secret}`, {
    method: 'POST',
    body: JSON.stringify([{ symbol: 'A', time, n }]),
    headers: { 'idempotency-key': `write-${n}` },
  });
  const text = await answer.text();
  return answer.status === 200 ? text : undefined;
}

/** Repeats all writes of the round, then checks that each is stored once. */
async function faultsOf(
  door: Door,
  writes: readonly Write[],
  began: number,
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const write of writes.slice(began)) {
    const text = await sent(door, write);
    const first = write.text ?? text;
    if (text === undefined) faults.push(`${write.way} ${write.n} is not accepted again`);
    else if (text !== first) faults.push(`${write.way} ${write.n}: ${text}, at first ${first}`);
  }
  const rows = await fetch(`${door.base}/v1/data/WS/${DATASET}?limit=100000&token=${door.secret}`);
  const stored = ((await rows.json()) as readonly { readonly n: number }[]).map(({ n }) => n);
  const times = new Map<number, number>();
  for (const n of stored) times.set(n, (times.get(n) ?? 0) + 1);
  for (const { n, way } of writes) {
    if (times.get(n) !== 1) faults.push(`${way} ${n} is stored ${times.get(n) ?? 0} times`);
  }
  return faults;
}
