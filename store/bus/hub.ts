// Publishes messages to groups of subscribers. A message is added to the groups of its topic and symbol, not
// to each subscriber; each group sends its pending messages to its subscribers as one batch.
import { type Clock, monotonicMs } from '../base/clock.ts';
import {
  Group,
  subscriptionKey,
  type Render,
  type Subscriber,
  type Subscription,
} from './group.ts';
import { type LogStore, TopicLog } from './topicLog.ts';

/**
 * Messages of one turn are sent as one batch, because each write costs a system call. The delay before a turn
 * equals the duration of the last one: it is 1 ms under low load, and half of the time is left for other
 * work.
 */
const TURN_MIN_MS = 1;
const TURN_MAX_MS = 20;
/** Messages that may wait for the next turn; with more they are sent immediately. */
const PENDING_MAX = 10_000;
/** How long a group without subscribers buffers messages for those that resume. */
const IDLE_GROUP_MS = 300_000;
/** Groups without subscribers. */
const IDLE_GROUPS_MAX = 200;

const NO_GROUPS: ReadonlySet<Group> = new Set();

/** The groups of one topic. */
interface Listeners {
  readonly all: Set<Group>;
  readonly bySymbol: Map<string, Set<Group>>;
}

export class Hub {
  readonly #clock: Clock;
  readonly #groups = new Map<string, Group>();
  readonly #topics = new Map<string, Listeners>();
  readonly #pending = new Set<Group>();
  readonly #idle = new Set<Group>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  /** Delay until the next turn of groups without an interval. */
  #turnMs = TURN_MIN_MS;
  #isClosed = false;
  /** The log shared with other nodes; undefined: messages are buffered only in this process. */
  readonly log: TopicLog | undefined;

  constructor(clock: Clock, logs?: LogStore) {
    this.#clock = clock;
    this.log =
      logs &&
      new TopicLog(logs, {
        hasSubscribers: (topic) => this.hasTopicSubscribers(topic),
        onSent: () => {
          for (const group of this.#pending) if (group.isResumable) this.#flush(group);
        },
      });
  }

  /** Whether a symbol of a topic has subscribers: otherwise no message needs to be rendered. */
  hasSubscribers(topic: string, symbol: string): boolean {
    const listeners = this.#topics.get(topic);
    return listeners !== undefined && (listeners.all.size > 0 || listeners.bySymbol.has(symbol));
  }

  /** Whether a topic has subscribers. */
  hasTopicSubscribers(topic: string): boolean {
    return this.#topics.has(topic);
  }

  /** @param make renders the message's JSON; called once, and only if there are subscribers */
  publish(topic: string, symbol: string, make: Render): void {
    const isKept = this.log?.isLogged(topic) === true;
    const listeners = this.#topics.get(topic);
    const own = listeners?.bySymbol.get(symbol) ?? NO_GROUPS;
    const all = listeners?.all ?? NO_GROUPS;
    if (!isKept && own.size === 0 && all.size === 0) return;
    const render = memoize(make);
    if (isKept) return this.#publishLogged(topic, symbol, render, [...all, ...own]);
    for (const group of all) this.#add(group, symbol, render);
    for (const group of own) this.#add(group, symbol, render);
  }

  /** Publishes a message to all subscribers of a topic, regardless of their symbols. */
  broadcast(topic: string, json: string): void {
    const isKept = this.log?.isLogged(topic) === true;
    const listeners = this.#topics.get(topic);
    if (listeners === undefined && !isKept) return;
    const groups = new Set(listeners?.all);
    for (const own of listeners?.bySymbol.values() ?? [])
      for (const group of own) groups.add(group);
    if (isKept) return this.#publishLogged(topic, '', () => json, [...groups]);
    for (const group of groups) this.#add(group, '', () => json);
  }

  /** Logs the topics of a subscription with ids from now on, so that it can be resumed at another node. */
  async prepareResume({ ids, intervalMs, topics }: Subscription): Promise<void> {
    const { log } = this;
    if (log === undefined || !ids || intervalMs > 0 || !(await log.ensureOpen())) return;
    for (const topic of topics) log.startLogging(topic);
    // A subscriber that resumes must find the messages since another node published the topic.
    await log.flushed();
  }

  /** Adds a subscriber to its group, which sends it messages from now on. The caller must leave the group. */
  join(subscription: Subscription, subscriber: Subscriber): Group {
    const name = subscriptionKey(subscription);
    const group = this.#groups.get(name) ?? this.#createGroup(name, subscription);
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
    this.#endIdleGroups();
  }

  /** Sends the pending messages of groups without an interval. @returns queued bytes of slow subscribers */
  drain(): number {
    for (const group of this.#pending) if (group.subscription.intervalMs === 0) this.#flush(group);
    let bytes = 0;
    for (const { subscribers } of this.#groups.values()) {
      for (const { queuedBytes = 0 } of subscribers) bytes += queuedBytes;
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

  /** Counts of groups, groups without subscribers, and pending messages. */
  state(): { readonly groups: number; readonly idle: number; readonly waiting: number } {
    const waiting = [...this.#pending].reduce((sum, group) => sum + group.pendingCount, 0);
    return { groups: this.#groups.size, idle: this.#idle.size, waiting };
  }

  #add(group: Group, symbol: string, render: Render): void {
    group.add(symbol, render);
    if (group.pendingCount >= PENDING_MAX && group.subscription.intervalMs === 0) group.flush();
    if (this.#pending.has(group)) return;
    this.#pending.add(group);
    this.#scheduleTurn(group.subscription.intervalMs);
  }

  /** Sends a message to resumable groups once it is in the log, and to others in the next turn. */
  #publishLogged(topic: string, symbol: string, render: Render, groups: readonly Group[]): void {
    const { log } = this;
    const json = render();
    if (log === undefined || json === undefined) return;
    const resumable = groups.filter(({ isResumable }) => isResumable);
    if (resumable.length < groups.length) {
      for (const group of groups) if (!group.isResumable) this.#add(group, symbol, render);
    }
    log.add({
      topic,
      symbol,
      json,
      send: (place, ordinal) => {
        for (const group of resumable) {
          if (group.isEnded) continue;
          group.addLogged(symbol, json, place, ordinal);
          this.#pending.add(group);
        }
      },
    });
    if (log.pendingCount >= PENDING_MAX) log.flush();
    else this.#scheduleTurn(0);
  }

  #flush(group: Group): void {
    this.#pending.delete(group);
    group.flush();
  }

  /** Schedules the next turn of an interval, which its groups share; 0: the groups without an interval. */
  #scheduleTurn(everyMs: number): void {
    if (this.#timers.has(everyMs) || this.#isClosed) return;
    const turn = (): void => {
      this.#timers.delete(everyMs);
      const startMs = monotonicMs();
      for (const group of this.#pending) {
        if (group.subscription.intervalMs === everyMs) this.#flush(group);
      }
      if (everyMs === 0) this.log?.flush();
      const durationMs = monotonicMs() - startMs;
      if (everyMs === 0) this.#turnMs = Math.min(TURN_MAX_MS, Math.max(TURN_MIN_MS, durationMs));
      this.#endIdleGroups();
    };
    this.#timers.set(everyMs, setTimeout(turn, everyMs || this.#turnMs));
  }

  #createGroup(name: string, subscription: Subscription): Group {
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
    this.#groups.delete(subscriptionKey(subscription));
    this.#pending.delete(group);
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

  /** Ends groups that have had no subscribers for too long, the oldest first. */
  #endIdleGroups(): void {
    const before = this.#clock() - IDLE_GROUP_MS;
    for (const group of this.#idle) {
      if (group.leftMs > before && this.#idle.size <= IDLE_GROUPS_MAX) break;
      this.#end(group);
    }
  }
}

function memoize(make: Render): Render {
  let isRendered = false;
  let json: string | undefined;
  return () => {
    if (!isRendered) {
      json = make();
      isRendered = true;
    }
    return json;
  };
}
