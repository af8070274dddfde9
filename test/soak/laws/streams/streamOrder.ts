// What subscribers hear of what is published, in a time that is counted by hand: all of it in its order, or
// of each symbol and interval the newest; who comes back hears what it missed, and nothing twice.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Frame } from '../../../../store/bus/batch.ts';
import type { MessageTransform, Group, Subscription } from '../../../../store/bus/group.ts';
import { Hub } from '../../../../store/bus/hub.ts';
import { seeded, type Seeded } from '../../crash/rounds/seeded.ts';

const TOPICS = ['trades', 'quotes', 'deep'] as const;
const SYMBOLS = ['A', 'B', 'C', 'D', 'E'] as const;
const INTERVALS_MS = [0, 0, 50, 1_000, 5_000] as const;
/** A turn of those without an interval ends at most so much later. */
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
  /** Undefined for what was missed and told again. */
  readonly ms: number | undefined;
}

interface World {
  readonly hub: Hub;
  readonly random: Seeded;
  readonly published: Published[];
  readonly nowMs: () => number;
  /** Few, so that several share a group. */
  readonly wanted: readonly Subscription[];
}

/** Runs `count` rounds of 400 steps each. @returns what was published and heard */
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
  return `${published} messages published, ${heard} heard, ${resumed} times taken up again`;
}

interface Done {
  readonly published: number;
  readonly heard: number;
  readonly resumed: number;
}

function roundOf(random: Seeded, told: string): Done {
  let nowMs = 0;
  const world: World = {
    hub: new Hub(() => nowMs),
    random,
    published: [],
    nowMs: () => nowMs,
    wanted: Array.from({ length: 5 }, () => subscriptionOf(random)),
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
    if (one === undefined && act >= 16) listeners.push(new Listener(world, told));
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
  const found = items[random.between(0, items.length - 1)];
  assert.ok(found !== undefined);
  return found;
}

/** One that listens, is cut off and comes back. */
class Listener {
  heardInAll = 0;
  resumed = 0;
  readonly #world: World;
  readonly #told: string;
  readonly #subscription: Subscription;
  #group: Group | undefined;
  #lastId: string | undefined;
  /** Since it listens, or since it began anew. */
  #heard: Heard[] = [];
  #from = 0;

  constructor(world: World, told: string) {
    this.#world = world;
    this.#subscription = pick(world.wanted, world.random);
    this.#told = `${told}: ${JSON.stringify(this.#subscription)}`;
    this.#begin();
  }

  take({ bytes, frames }: { readonly bytes: Buffer; readonly frames: readonly Frame[] }): void {
    assert.deepEqual(bytes, Buffer.concat(frames.map((frame) => frame.bytes)), this.#told);
    this.#hear(frames, this.#world.nowMs());
  }

  leave(): void {
    if (this.#group === undefined) return;
    this.#world.hub.leave(this.#group, this);
    this.#group = undefined;
    this.#prove();
  }

  /** Goes on after what it heard last, where that has an id. */
  comeBack(): void {
    if (this.#group !== undefined) return;
    if (this.#lastId === undefined) {
      this.#begin();
      return;
    }
    this.#group = this.#world.hub.join(this.#subscription, this);
    const { frames, gap } = this.#group.resumeAfter(this.#lastId);
    assert.equal(gap, 0, this.#told);
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
      assert.equal(member, transform === undefined ? 'n' : 'disguised', this.#told);
      assert.equal(id !== undefined, ids, this.#told);
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
      assert.deepEqual(ns, whole.slice(0, ns.length), `${this.#told}: each one, in its order`);
      const missed = full.slice(ns.length);
      assert.ok(
        missed.every(({ ms }) => ms >= untilMs - TURN_MS_MOST),
        `${this.#told}: all`,
      );
      return;
    }
    for (const symbol of ['', ...SYMBOLS]) {
      const full = ofMine.filter((one) => one.symbol === symbol);
      const heard = this.#heard.filter((one) => one.symbol === symbol);
      proveNewest(heard, full, intervalMs, this.#told);
      const due = full.filter(({ ms, n }) => n >= this.#from && ms + intervalMs < untilMs);
      for (const { ms, n } of due) {
        const isTold = heard.some(
          (one) => one.n >= n && (this.#world.published[one.n]?.ms ?? Infinity) <= ms + intervalMs,
        );
        assert.ok(isTold, `${this.#told}: nothing of ${symbol} within ${intervalMs} ms of ${ms}`);
      }
    }
  }
}

const FRAME = /^(?:id: (\S+)\r\n)?data: \[\{"(n|disguised)":(\d+)\}\]\r\n\r\n$/;

/** A subsequence of all there is of a symbol: each the newest when it was told, one in an interval. */
function proveNewest(
  heard: readonly Heard[],
  full: readonly Published[],
  intervalMs: number,
  told: string,
): void {
  let before: Heard | undefined;
  for (const one of heard) {
    assert.ok(one.n > (before?.n ?? -1), `${told}: ${one.n} after ${before?.n}`);
    const own = full.find(({ n }) => n === one.n);
    assert.ok(own !== undefined, `${told}: ${one.n} is none of its own`);
    if (one.ms !== undefined) {
      const { ms } = one;
      const newest = full.findLast((other) => other.ms < ms);
      assert.equal(one.n, newest?.n, `${told}: the newest at ${ms}`);
      const since = before?.ms === undefined ? Infinity : ms - before.ms;
      assert.ok(since >= intervalMs, `${told}: ${since} ms after the one before`);
    }
    before = one;
  }
}
