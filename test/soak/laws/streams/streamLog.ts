// Readers that move from node to node: the next node continues after the messages of the last one, each once,
// in order, and reports a gap if messages may be missing. Nodes end at any time; NATS goes down, returns, and
// may have lost everything.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseBusSettings } from '../../../../store/base/settings/busSettings.ts';
import type { Group, Subscriber, Subscription } from '../../../../store/bus/group.ts';
import { Hub } from '../../../../store/bus/hub.ts';
import { NatsLog } from '../../../../store/bus/nats/natsLog.ts';
import { seeded, type Seeded } from '../../crash/rounds/seeded.ts';
import type { Nats } from '../../../base/servers/nats.ts';

/** Messages of the first topic are stored as well: a starting node finds them in the store. */
const TOPICS = ['records', 'trades'] as const;
const [STORED] = TOPICS;
const SYMBOLS = ['A', 'B', 'C'] as const;
const READERS = 6;
const STEPS = 120;

interface Node {
  readonly hub: Hub;
  readonly log: NatsLog;
  /** Faults of an ending node are ignored. */
  isEnding: boolean;
}

interface World {
  readonly random: Seeded;
  readonly nats: Nats;
  readonly lake: string;
  /** Seed and round, for messages of assertions. */
  readonly label: string;
  ends: number;
  node: Node;
  /** Each message that was published, by topic and symbol. */
  readonly published: Published[];
  /** How often NATS was unavailable or slow: it may have lost the last messages sent to it. */
  readonly faults: { outages: number };
  readonly onFault: () => void;
}

interface Published {
  readonly n: number;
  readonly topic: string;
  readonly symbol: string;
}

async function nodeOf(
  { lake, nats }: Pick<World, 'lake' | 'nats'>,
  onFault: () => void,
): Promise<Node> {
  const settings = parseBusSettings(nats.url);
  assert.ok(settings);
  const reportFault = (): void => {
    if (!node.isEnding) onFault();
  };
  const log = new NatsLog({ settings, lake, onFault: reportFault });
  const node = { log, hub: new Hub(Date.now, log), isEnding: false };
  while (!log.isHere) await sleep(2);
  return node;
}

/** A reader that disconnects and resumes with the id of its last message. */
class Reader {
  readonly subscription: Subscription;
  readonly #world: World;
  readonly heard: number[] = [];
  gaps = 0;
  #id = '';
  #at: { readonly hub: Hub; readonly group: Group; readonly own: Subscriber } | undefined;

  constructor(subscription: Subscription, world: World) {
    this.subscription = subscription;
    this.#world = world;
  }

  get isIn(): boolean {
    return this.#at !== undefined;
  }

  async join(): Promise<void> {
    const { hub } = this.#world.node;
    await restoreLog(this.#world, this.subscription);
    const own: Subscriber = {
      take: ({ bytes }) => {
        if (this.#at?.own === own) this.#hear(bytes.toString());
      },
    };
    const group = hub.join(this.subscription, own);
    this.#at = { hub, group, own };
    if (this.#id === '') {
      this.#id = idsOf(group.createFrame('', '{}').bytes.toString())[0] ?? '';
      return;
    }
    const { frames, gap } = group.resumeAfter(this.#id, own);
    if (gap !== 0) this.gaps += 1;
    for (const { bytes } of frames) this.#hear(bytes.toString());
  }

  leave(): void {
    if (this.#at !== undefined) this.#at.hub.leave(this.#at.group, this.#at.own);
    this.#at = undefined;
  }

  /** Called when its node has ended. */
  cut(): void {
    this.#at = undefined;
  }

  #hear(text: string): void {
    const { faults, published, label } = this.#world;
    const topicOf = (n: number): string | undefined => published[n]?.topic;
    for (const [, id = '', digits] of text.matchAll(/id: (.*)\r\ndata: \[\{"n":(\d+)\}\]/g)) {
      const n = Number(digits);
      const last = this.heard.findLast((one) => topicOf(one) === topicOf(n)) ?? -1;
      assert.ok(n > last || faults.outages > 0, `${label}: ${n} after ${last}`);
      this.heard.push(n);
      this.#id = id;
    }
  }
}

const idsOf = (text: string): readonly string[] => text.match(/(?<=id: ).*(?=\r)/g) ?? [];

/** Prepares the log as readers of records do: stored messages that no node published come first. */
async function restoreLog(
  { node: { hub }, published }: World,
  subscription: Subscription,
): Promise<void> {
  const { log } = hub;
  if (log !== undefined && subscription.topics.includes(STORED) && (await log.ensureOpen())) {
    const recalled = log.recovered(STORED);
    const stored = published.filter(({ topic }) => topic === STORED);
    const missing = recalled && stored.filter(({ n }) => n > Number(recalled.checkpoint));
    const missingMessages = missing?.map(({ n, symbol }) => ({
      symbol,
      json: JSON.stringify({ n }),
    }));
    if (!log.isLogged(STORED)) {
      log.startLogging(
        STORED,
        missingMessages?.filter(({ json }) => recalled?.messages.has(json) === false),
      );
      log.setCheckpoint(STORED, String(stored.at(-1)?.n ?? -1));
    }
  }
  await hub.prepareResume(subscription);
}

/** Plays `count` rounds. @returns the numbers of published and received messages, and of gaps */
export async function streamLogLaw(count: number, seed: number, nats: Nats): Promise<string> {
  const random = seeded(seed);
  const sums = { published: 0, heard: 0, ends: 0, gaps: 0 };
  for (let round = 0; round < count; round += 1) {
    const done = await roundOf(random.fork(), nats, `seed ${seed}, round ${round}`);
    for (const name of ['published', 'heard', 'ends', 'gaps'] as const) sums[name] += done[name];
  }
  const { ends, gaps, heard, published } = sums;
  return `${published} messages, ${heard} heard, ${ends} ends of nodes, ${gaps} gaps reported`;
}

interface Done {
  readonly published: number;
  readonly heard: number;
  readonly ends: number;
  readonly gaps: number;
}

async function roundOf(random: Seeded, nats: Nats, label: string): Promise<Done> {
  const lake = `law-${random.between(0, 2 ** 31)}`;
  const faults = { outages: 0 };
  const onFault = (): void => void (faults.outages += 1);
  const node = await nodeOf({ lake, nats }, onFault);
  const world: World = { random, nats, lake, label, published: [], faults, onFault, ends: 0, node };
  const readers = Array.from({ length: READERS }, () => new Reader(subscriptionOf(random), world));
  try {
    for (const reader of readers) await reader.join();
    for (let step = 0; step < STEPS; step += 1) await oneStep(world, readers);
    for (const reader of readers) if (!reader.isIn) await reader.join();
    await world.node.hub.log?.flushed();
    for (const reader of readers) check(reader, world);
  } finally {
    await closed(world.node);
  }
  return {
    published: world.published.length,
    ends: world.ends,
    heard: readers.reduce((sum, { heard }) => sum + heard.length, 0),
    gaps: readers.reduce((sum, { gaps }) => sum + gaps, 0),
  };
}

async function oneStep(world: World, readers: readonly Reader[]): Promise<void> {
  const { nats, random } = world;
  const act = random.between(0, 999);
  const reader = readers[random.between(0, READERS - 1)];
  if (act < 600) publish(world);
  else if (act < 750) await sleep(random.between(0, 4));
  else if (act < 830) reader?.leave();
  else if (act < 955) {
    if (reader?.isIn === false) await reader.join();
  } else if (act < 990) await ended(world, readers);
  else if (act < 995) {
    world.onFault();
    const { up } = await nats.down();
    for (let left = random.between(0, 20); left > 0; left -= 1) publish(world);
    await sleep(random.between(0, 50));
    await up(random.chance(0.5) ? 'all' : 'nothing');
    while (!world.node.log.isHere) await sleep(10);
  }
}

const subscriptionOf = (random: Seeded): Subscription => ({
  topics: random.chance(0.3) ? TOPICS : [random.pick(TOPICS)],
  symbols: random.chance(0.4) ? undefined : [random.pick(SYMBOLS)],
  intervalMs: 0,
  ids: true,
});

function publish({ node: { hub }, published, random }: World): void {
  for (let left = random.between(1, 4); left > 0; left -= 1) {
    const [topic, symbol] = [random.pick(TOPICS), random.pick(SYMBOLS)];
    const n = published.length;
    published.push({ n, topic, symbol });
    hub.publish(topic, symbol, () => JSON.stringify({ n }));
    if (topic === STORED && random.chance(0.5)) hub.log?.setCheckpoint(STORED, String(n));
  }
}

/** Ends a node like a kill: messages that are not in the log by then reached no reader. */
async function ended(world: World, readers: readonly Reader[]): Promise<void> {
  world.ends += 1;
  for (const reader of readers) reader.cut();
  world.node.isEnding = true;
  await world.node.log.close();
  world.node = await nodeOf(world, world.onFault);
  if (world.random.chance(0.5)) await Promise.all(readers.map((reader) => reader.join()));
}

async function closed({ hub, log }: Node): Promise<void> {
  hub.close();
  await log.close();
}

/** Checks that a reader without a gap received all messages of its subscription. */
function check({ gaps, heard, subscription }: Reader, { faults, published, label }: World): void {
  const { symbols, topics } = subscription;
  const isStored = topics.every((topic) => topic === STORED);
  if (isStored && faults.outages === 0)
    assert.equal(gaps, 0, `${label}: a gap where there is none`);
  const own = published.filter(
    ({ symbol, topic }) => topics.includes(topic) && (symbols?.includes(symbol) ?? true),
  );
  const all = new Set(own.map(({ n }) => n));
  assert.deepEqual(
    heard.filter((n) => !all.has(n)),
    [],
    label,
  );
  const set = new Set(heard);
  const missing = [...all].filter((n) => !set.has(n));
  assert.ok(missing.length === 0 || gaps > 0, `${label}: never received ${missing.join()}`);
}
