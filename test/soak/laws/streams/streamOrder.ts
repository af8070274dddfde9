// Messages that subscribers receive, with a manual clock: all published messages in order, or the newest of
// each symbol and interval; a returning subscriber receives what it missed, and nothing twice.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Frame } from '../../../../store/bus/batch.ts';
import type { MessageTransform, Group, Subscription } from '../../../../store/bus/group.ts';
import { Hub } from '../../../../store/bus/hub.ts';
import { seeded, type Seeded } from '../../crash/rounds/seeded.ts';

const TOPICS = ['trades', 'quotes', 'deep'] as const;
const SYMBOLS = ['A', 'B', 'C', 'D', 'E'] as const;
const INTERVALS_MS = [0, 0, 50, 1_000, 5_000] as const;
/** Maximum delay of messages without an interval. */
const TURN_MS_MOST = 20;
const LISTENERS_MAX = 12;
const STEPS = 400;

const DISGUISE: MessageTransform = {
  name: 'test',
  of: (json) => json.replace('"n"', '"disguised"'),
};

interface Published {
  readonly n: number;
  readonly topic: string;
  /** '' for all symbols. */
  readonly symbol: string;
  readonly ms: number;
}

interface Heard {
  readonly n: number;
  readonly symbol: string;
  /** Undefined for a missed message that was sent again. */
  readonly ms: number | undefined;
}

interface World {
  readonly hub: Hub;
  readonly random: Seeded;
  readonly published: Published[];
  readonly nowMs: () => number;
  /** Few subscriptions, so that several listeners share a group. */
  readonly subscriptions: readonly Subscription[];
}

/** Runs `count` rounds of 400 steps each. @returns the numbers of published and received messages */
export function streamOrderLaw(count: number, seed: number): string {
  const random = seeded(seed);
  let [published, heard, resumed] = [0, 0, 0];
  for (let round = 0; round < count; round += 1) {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const done = roundOf(random.fork(), `seed ${seed}, round ${round}`);
      [published, heard] = [published + done.published, heard + done.heard];
      resumed += done.resumed;
    } finally {
      mock.timers.reset();
    }
  }
  return `${published} messages published, ${heard} heard, resumed ${resumed} times`;
}

interface Done {
  readonly published: number;
  readonly heard: number;
  readonly resumed: number;
}

function roundOf(random: Seeded, label: string): Done {
  let nowMs = 0;
  const world: World = {
    hub: new Hub(() => nowMs),
    random,
    published: [],
    nowMs: () => nowMs,
    subscriptions: Array.from({ length: 5 }, () => subscriptionOf(random)),
  };
  const pass = (ms: number): void => {
    for (let left = ms; left > 0; left -= 1) {
      nowMs += 1;
      mock.timers.tick(1);
    }
  };
  const listeners: Listener[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    const act = random.between(0, 19);
    if (act < 14) for (let left = random.between(1, 4); left > 0; left -= 1) publish(world);
    if (act >= 13 && act < 17)
      pass(random.chance(0.1) ? random.between(100, 7_000) : random.between(1, 60));
    const one = listeners[random.between(0, LISTENERS_MAX - 1)];
    if (one === undefined && act >= 16) listeners.push(new Listener(world, label));
    if (act === 18 && random.chance(0.5)) one?.leave();
    if (act === 19) one?.comeBack();
  }
  pass(Math.max(...INTERVALS_MS) + TURN_MS_MOST);
  for (const one of listeners) one.leave();
  world.hub.close();
  return {
    published: world.published.length,
    heard: listeners.reduce((sum, { heardInAll }) => sum + heardInAll, 0),
    resumed: listeners.reduce((sum, one) => sum + one.resumed, 0),
  };
}

function publish({ hub, nowMs, published, random }: World): void {
  const n = published.length;
  const topic = random.pick(TOPICS);
  const isForAll = random.chance(0.03);
  const symbol = isForAll ? '' : random.pick(SYMBOLS);
  published.push({ n, topic, symbol, ms: nowMs() });
  const json = JSON.stringify({ n });
  if (isForAll) hub.broadcast(topic, json);
  else hub.publish(topic, symbol, () => json);
}

function subscriptionOf(random: Seeded): Subscription {
  const some = <Item>(items: readonly Item[]): readonly Item[] => {
    const chosen = items.filter(() => random.chance(0.5));
    return chosen.length === 0 ? items.slice(0, 1) : chosen;
  };
  return {
    topics: some(TOPICS),
    symbols: random.chance(0.3) ? undefined : some(SYMBOLS),
    intervalMs: random.pick(INTERVALS_MS),
    ids: random.chance(0.5),
    transform: random.chance(0.2) ? DISGUISE : undefined,
  };
}

function pick<Item>(items: readonly Item[], random: Seeded): Item {
  const item = items[random.between(0, items.length - 1)];
  assert.ok(item !== undefined);
  return item;
}

/** A subscriber that disconnects and resumes. */
class Listener {
  heardInAll = 0;
  resumed = 0;
  readonly #world: World;
  readonly #label: string;
  readonly #subscription: Subscription;
  #group: Group | undefined;
  #lastId: string | undefined;
  /** Messages since it first subscribed, or since it last started without an id. */
  #heard: Heard[] = [];
  #from = 0;

  constructor(world: World, label: string) {
    this.#world = world;
    this.#subscription = pick(world.subscriptions, world.random);
    this.#label = `${label}: ${JSON.stringify(this.#subscription)}`;
    this.#begin();
  }

  take({ bytes, frames }: { readonly bytes: Buffer; readonly frames: readonly Frame[] }): void {
    assert.deepEqual(bytes, Buffer.concat(frames.map((frame) => frame.bytes)), this.#label);
    this.#hear(frames, this.#world.nowMs());
  }

  leave(): void {
    if (this.#group === undefined) return;
    this.#world.hub.leave(this.#group, this);
    this.#group = undefined;
    this.#prove();
  }

  /** Resumes after its last message if that has an id; otherwise starts again. */
  comeBack(): void {
    if (this.#group !== undefined) return;
    if (this.#lastId === undefined) {
      this.#begin();
      return;
    }
    this.#group = this.#world.hub.join(this.#subscription, this);
    const { frames, gap } = this.#group.resumeAfter(this.#lastId);
    assert.equal(gap, 0, this.#label);
    this.#hear(frames, undefined);
    this.resumed += 1;
  }

  #begin(): void {
    const { hub, published } = this.#world;
    [this.#heard, this.#from] = [[], published.length];
    this.#group = hub.join(this.#subscription, this);
  }

  #hear(frames: readonly Frame[], ms: number | undefined): void {
    const { transform, ids } = this.#subscription;
    for (const { bytes, symbol } of frames) {
      const [, id, member, n] = FRAME.exec(bytes.toString()) ?? [];
      assert.equal(member, transform === undefined ? 'n' : 'disguised', this.#label);
      assert.equal(id !== undefined, ids, this.#label);
      this.#lastId = id;
      this.#heard.push({ n: Number(n), symbol, ms });
      this.heardInAll += 1;
    }
  }

  #prove(): void {
    const { intervalMs, symbols, topics } = this.#subscription;
    const untilMs = this.#world.nowMs();
    const ofMine = this.#world.published.filter(
      ({ symbol, topic }) =>
        topics.includes(topic) && (symbol === '' || symbols?.includes(symbol) !== false),
    );
    if (intervalMs === 0) {
      const full = ofMine.filter(({ n }) => n >= this.#from);
      const ns = this.#heard.map(({ n }) => n);
      const whole = full.map(({ n }) => n);
      assert.deepEqual(ns, whole.slice(0, ns.length), `${this.#label}: each one, in its order`);
      const missed = full.slice(ns.length);
      assert.ok(
        missed.every(({ ms }) => ms >= untilMs - TURN_MS_MOST),
        `${this.#label}: all`,
      );
      return;
    }
    for (const symbol of ['', ...SYMBOLS]) {
      const full = ofMine.filter((one) => one.symbol === symbol);
      const heard = this.#heard.filter((one) => one.symbol === symbol);
      proveNewest(heard, full, intervalMs, this.#label);
      const due = full.filter(({ ms, n }) => n >= this.#from && ms + intervalMs < untilMs);
      for (const { ms, n } of due) {
        const isDelivered = heard.some(
          (one) => one.n >= n && (this.#world.published[one.n]?.ms ?? Infinity) <= ms + intervalMs,
        );
        assert.ok(
          isDelivered,
          `${this.#label}: nothing of ${symbol} within ${intervalMs} ms of ${ms}`,
        );
      }
    }
  }
}

const FRAME = /^(?:id: (\S+)\r\n)?data: \[\{"(n|disguised)":(\d+)\}\]\r\n\r\n$/;

/** Checks a subsequence of a symbol's messages: each was the newest when sent, one in an interval. */
function proveNewest(
  heard: readonly Heard[],
  full: readonly Published[],
  intervalMs: number,
  label: string,
): void {
  let before: Heard | undefined;
  for (const one of heard) {
    assert.ok(one.n > (before?.n ?? -1), `${label}: ${one.n} after ${before?.n}`);
    const own = full.find(({ n }) => n === one.n);
    assert.ok(own !== undefined, `${label}: ${one.n} is not in its subscription`);
    if (one.ms !== undefined) {
      const { ms } = one;
      const newest = full.findLast((other) => other.ms < ms);
      assert.equal(one.n, newest?.n, `${label}: the newest at ${ms}`);
      const since = before?.ms === undefined ? Infinity : ms - before.ms;
      assert.ok(since >= intervalMs, `${label}: ${since} ms after the one before`);
    }
    before = one;
  }
}
