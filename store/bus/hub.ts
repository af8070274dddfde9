// Publish once, for everyone who wants it: a message goes to the groups that its topic and symbol have,
// never past each subscriber; each group hands what it gathered to its subscribers together.
import { type Clock, monotonicMs } from '../base/clock.ts';
import { Group, nameOf, type Render, type Subscriber, type Subscription } from './group.ts';
import { type LogStore, TopicLog } from './topicLog.ts';

/**
 * Messages of one turn go out together: a write for each costs a system call for each. A turn waits as
 * long as the last one took, so that it is 1 ms late where little happens, and half of the time is left
 * for others.
 */
const TURN_MS_LEAST = 1;
const TURN_MS_MOST = 20;
/** Messages that may wait for their turn; a burst of more goes out at once. */
const WAITING_MAX = 10_000;
/** How long a group whose subscribers all left holds messages for those that come back. */
const HELD_MS = 300_000;
/** Groups that hold messages for nobody. */
const IDLE_GROUPS_MAX = 200;

const NOBODY: ReadonlySet<Group> = new Set();

/** Groups of one topic. */
interface Listeners {
  readonly all: Set<Group>;
  readonly bySymbol: Map<string, Set<Group>>;
}

export class Hub {
  readonly #clock: Clock;
  readonly #groups = new Map<string, Group>();
  readonly #topics = new Map<string, Listeners>();
  readonly #due = new Set<Group>();
  readonly #idle = new Set<Group>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  /** Until the next turn of those that have no interval. */
  #turnMs = TURN_MS_LEAST;
  #isClosed = false;
  /** Undefined: messages are held in this process alone. */
  readonly log: TopicLog | undefined;

  constructor(clock: Clock, logs?: LogStore) {
    this.#clock = clock;
    this.log =
      logs &&
      new TopicLog(logs, {
        hears: (topic) => this.hears(topic),
        onTold: () => {
          for (const group of this.#due) if (group.isKept) this.#flush(group);
        },
      });
  }

  /** Whether anyone listens to a symbol of a topic: else nothing need be made. */
  listens(topic: string, symbol: string): boolean {
    const listeners = this.#topics.get(topic);
    return listeners !== undefined && (listeners.all.size > 0 || listeners.bySymbol.has(symbol));
  }

  /** Whether anyone listens to a topic at all. */
  hears(topic: string): boolean {
    return this.#topics.has(topic);
  }

  /** @param make the message's JSON; asked once, and only where anyone listens */
  publish(topic: string, symbol: string, make: Render): void {
    const isKept = this.log?.isKept(topic) === true;
    const listeners = this.#topics.get(topic);
    const own = listeners?.bySymbol.get(symbol) ?? NOBODY;
    const all = listeners?.all ?? NOBODY;
    if (!isKept && own.size === 0 && all.size === 0) return;
    const render = once(make);
    if (isKept) return this.#keep(topic, symbol, render, [...all, ...own]);
    for (const group of all) this.#add(group, symbol, render);
    for (const group of own) this.#add(group, symbol, render);
  }

  /** To everyone who listens to a topic, whichever symbols were chosen. */
  announce(topic: string, json: string): void {
    const isKept = this.log?.isKept(topic) === true;
    const listeners = this.#topics.get(topic);
    if (listeners === undefined && !isKept) return;
    const groups = new Set(listeners?.all);
    for (const own of listeners?.bySymbol.values() ?? [])
      for (const group of own) groups.add(group);
    if (isKept) return this.#keep(topic, '', () => json, [...groups]);
    for (const group of groups) this.#add(group, '', () => json);
  }

  /** Whoever joins with ids may go on at another node, from here on. */
  async prepare({ ids, intervalMs, topics }: Subscription): Promise<void> {
    const { log } = this;
    if (log === undefined || !ids || intervalMs > 0 || !(await log.opened())) return;
    for (const topic of topics) log.keep(topic);
    // Who resumes is to find what came since others told of a topic.
    await log.settled();
  }

  /** The group that its messages come from, from this instant on; to be left again. */
  join(subscription: Subscription, subscriber: Subscriber): Group {
    const name = nameOf(subscription);
    const group = this.#groups.get(name) ?? this.#made(name, subscription);
    if (subscription.intervalMs === 0) group.flush();
    group.join(subscriber);
    this.#idle.delete(group);
    return group;
  }

  leave(group: Group, subscriber: Subscriber): void {
    if (!group.leave(subscriber) || group.subscribers.size > 0) return;
    if (!group.subscription.ids) {
      this.#end(group);
      return;
    }
    group.leftMs = this.#clock();
    this.#idle.add(group);
    this.#forget();
  }

  /** Hands over what waits for those without an interval. @returns bytes that wait for whoever is full */
  drain(): number {
    for (const group of this.#due) if (group.subscription.intervalMs === 0) this.#flush(group);
    let bytes = 0;
    for (const { subscribers } of this.#groups.values()) {
      for (const { behind = 0 } of subscribers) bytes += behind;
    }
    return bytes;
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.log?.close();
    for (const group of Array.from(this.#groups.values())) this.#end(group);
  }

  /** Groups, those of them without subscribers, and messages that wait. */
  state(): { readonly groups: number; readonly idle: number; readonly waiting: number } {
    const waiting = [...this.#due].reduce((sum, group) => sum + group.waiting, 0);
    return { groups: this.#groups.size, idle: this.#idle.size, waiting };
  }

  #add(group: Group, symbol: string, render: Render): void {
    group.add(symbol, render);
    if (group.waiting >= WAITING_MAX && group.subscription.intervalMs === 0) group.flush();
    if (this.#due.has(group)) return;
    this.#due.add(group);
    this.#arm(group.subscription.intervalMs);
  }

  /** Those that may come back get it once it is in the log, all others with the next turn. */
  #keep(topic: string, symbol: string, render: Render, groups: readonly Group[]): void {
    const { log } = this;
    const json = render();
    if (log === undefined || json === undefined) return;
    const kept = groups.filter(({ isKept }) => isKept);
    if (kept.length < groups.length) {
      for (const group of groups) if (!group.isKept) this.#add(group, symbol, render);
    }
    log.add({
      topic,
      symbol,
      json,
      tell: (place, ordinal) => {
        for (const group of kept) {
          if (group.isEnded) continue;
          group.addKept(symbol, json, place, ordinal);
          this.#due.add(group);
        }
      },
    });
    if (log.gathered >= WAITING_MAX) log.flush();
    else this.#arm(0);
  }

  #flush(group: Group): void {
    this.#due.delete(group);
    group.flush();
  }

  /** Turns of an interval are the same for all its groups; 0 for those that have none. */
  #arm(everyMs: number): void {
    if (this.#timers.has(everyMs) || this.#isClosed) return;
    const turn = (): void => {
      this.#timers.delete(everyMs);
      const beganMs = monotonicMs();
      for (const group of this.#due) {
        if (group.subscription.intervalMs === everyMs) this.#flush(group);
      }
      if (everyMs === 0) this.log?.flush();
      const tookMs = monotonicMs() - beganMs;
      if (everyMs === 0) this.#turnMs = Math.min(TURN_MS_MOST, Math.max(TURN_MS_LEAST, tookMs));
      this.#forget();
    };
    this.#timers.set(everyMs, setTimeout(turn, everyMs || this.#turnMs));
  }

  #made(name: string, subscription: Subscription): Group {
    const group = new Group(subscription, this.log);
    this.#groups.set(name, group);
    for (const topic of subscription.topics) {
      const listeners = this.#topics.get(topic) ?? { all: new Set(), bySymbol: new Map() };
      this.#topics.set(topic, listeners);
      if (subscription.symbols === undefined) listeners.all.add(group);
      for (const symbol of subscription.symbols ?? []) {
        const own = listeners.bySymbol.get(symbol) ?? new Set();
        listeners.bySymbol.set(symbol, own.add(group));
      }
    }
    return group;
  }

  #end(group: Group): void {
    const { subscription } = group;
    group.isEnded = true;
    this.#groups.delete(nameOf(subscription));
    this.#due.delete(group);
    this.#idle.delete(group);
    for (const topic of subscription.topics) {
      const listeners = this.#topics.get(topic);
      if (listeners === undefined) continue;
      listeners.all.delete(group);
      for (const symbol of subscription.symbols ?? []) {
        const own = listeners.bySymbol.get(symbol);
        own?.delete(group);
        if (own?.size === 0) listeners.bySymbol.delete(symbol);
      }
      if (listeners.all.size === 0 && listeners.bySymbol.size === 0) this.#topics.delete(topic);
    }
  }

  /** Ends groups that nobody came back to; the oldest ones first. */
  #forget(): void {
    const before = this.#clock() - HELD_MS;
    for (const group of this.#idle) {
      if (group.leftMs > before && this.#idle.size <= IDLE_GROUPS_MAX) break;
      this.#end(group);
    }
  }
}

function once(make: Render): Render {
  let isMade = false;
  let made: string | undefined;
  return () => {
    if (!isMade) {
      made = make();
      isMade = true;
    }
    return made;
  };
}
