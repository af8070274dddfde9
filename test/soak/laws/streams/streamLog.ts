// Readers that go from node to node: what one node told is heard at the next one, once, in its order, and
// what may be missing is told. Nodes end in the middle of what they do; NATS goes, comes back, and may have
// lost everything.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseBusSettings } from '../../../../store/base/settings/busSettings.ts';
import type { Group, Subscriber, Subscription } from '../../../../store/bus/group.ts';
import { Hub } from '../../../../store/bus/hub.ts';
import { NatsLog } from '../../../../store/bus/nats/natsLog.ts';
import { seeded, type Seeded } from '../../crash/rounds/seeded.ts';
import type { Nats } from '../../../base/servers/nats.ts';

/** What is published in the first one is stored as well: a node that begins finds it there. */
const TOPICS = ['records', 'trades'] as const;
const [STORED] = TOPICS;
const SYMBOLS = ['A', 'B', 'C'] as const;
const READERS = 6;
const STEPS = 120;

interface Node {
  readonly hub: Hub;
  readonly log: NatsLog;
  /** What fails then is lost with it. */
  isEnding: boolean;
}

interface World {
  readonly random: Seeded;
  readonly nats: Nats;
  readonly lake: string;
  /** Which round it is. */
  readonly told: string;
  ends: number;
  node: Node;
  /** Each message that was published, by topic and symbol. */
  readonly published: Published[];
  /** How often NATS was away, or slow: whether it has what it was sent just before is not known. */
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
  const told = (): void => {
    if (!node.isEnding) onFault();
  };
  const log = new NatsLog({ settings, lake, onFault: told });
  const node = { log, hub: new Hub(Date.now, log), isEnding: false };
  while (!log.isHere) await sleep(2);
  return node;
}

/** Reads, goes away, and comes back with the id of what it read last. */
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
    await kept(this.#world, this.subscription);
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

  /** Its node is gone. */
  cut(): void {
    this.#at = undefined;
  }

  #hear(text: string): void {
    const { faults, published, told } = this.#world;
    const topicOf = (n: number): string | undefined => published[n]?.topic;
    for (const [, id = '', digits] of text.matchAll(/id: (.*)\r\ndata: \[\{"n":(\d+)\}\]/g)) {
      const n = Number(digits);
      const last = this.heard.findLast((one) => topicOf(one) === topicOf(n)) ?? -1;
      assert.ok(n > last || faults.outages > 0, `${told}: ${n} after ${last}`);
      this.heard.push(n);
      this.#id = id;
    }
  }
}

const idsOf = (text: string): readonly string[] => text.match(/(?<=id: ).*(?=\r)/g) ?? [];

/** As those who read records do: what is stored and was told by nobody comes first. */
async function kept(
  { node: { hub }, published }: World,
  subscription: Subscription,
): Promise<void> {
  const { log } = hub;
  if (log !== undefined && subscription.topics.includes(STORED) && (await log.ensureOpen())) {
    const recalled = log.recovered(STORED);
    const stored = published.filter(({ topic }) => topic === STORED);
    const missing = recalled && stored.filter(({ n }) => n > Number(recalled.checkpoint));
    const untold = missing?.map(({ n, symbol }) => ({ symbol, json: JSON.stringify({ n }) }));
    if (!log.isLogged(STORED)) {
      log.startLogging(
        STORED,
        untold?.filter(({ json }) => recalled?.messages.has(json) === false),
      );
      log.setCheckpoint(STORED, String(stored.at(-1)?.n ?? -1));
    }
  }
  await hub.prepareResume(subscription);
}

/** @returns what was published, heard and told as missing */
export async function streamLogLaw(count: number, seed: number, nats: Nats): Promise<string> {
  const random = seeded(seed);
  const sums = { published: 0, heard: 0, ends: 0, gaps: 0 };
  for (let round = 0; round < count; round += 1) {
    const done = await roundOf(random.fork(), nats, `seed ${seed}, round ${round}`);
    for (const name of ['published', 'heard', 'ends', 'gaps'] as const) sums[name] += done[name];
  }
  const { ends, gaps, heard, published } = sums;
  return `${published} messages, ${heard} heard, ${ends} ends of nodes, ${gaps} gaps told`;
}

interface Done {
  readonly published: number;
  readonly heard: number;
  readonly ends: number;
  readonly gaps: number;
}

async function roundOf(random: Seeded, nats: Nats, told: string): Promise<Done> {
  const lake = `law-${random.between(0, 2 ** 31)}`;
  const faults = { outages: 0 };
  const onFault = (): void => void (faults.outages += 1);
  const node = await nodeOf({ lake, nats }, onFault);
  const world: World = { random, nats, lake, told, published: [], faults, onFault, ends: 0, node };
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

/** As a kill: what is not in the log by then was told to nobody. */
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

/** Without a gap it heard everything that is its own. */
function check({ gaps, heard, subscription }: Reader, { faults, published, told }: World): void {
  const { symbols, topics } = subscription;
  const isStored = topics.every((topic) => topic === STORED);
  if (isStored && faults.outages === 0) assert.equal(gaps, 0, `${told}: a gap where there is none`);
  const own = published.filter(
    ({ symbol, topic }) => topics.includes(topic) && (symbols?.includes(symbol) ?? true),
  );
  const all = new Set(own.map(({ n }) => n));
  assert.deepEqual(
    heard.filter((n) => !all.has(n)),
    [],
    told,
  );
  const set = new Set(heard);
  const missing = [...all].filter((n) => !set.has(n));
  assert.ok(missing.length === 0 || gaps > 0, `${told}: never heard of ${missing.join()}`);
}
