// Delivers what is due, each item on its own: a slow receiver occupies its own share of the places, and
// nobody waits for it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../store/base/clock.ts';

/** What waits for delivery. */
interface Waiting {
  readonly id: string;
  /** Who it is for. */
  readonly account: string;
  readonly address: string;
  /** What a query can leave out: its items have the same address. */
  readonly group: string;
  readonly dueMs: number;
}

/** What a query leaves out: items that are being delivered, and groups whose places are taken. */
interface Skipped {
  readonly ids: readonly string[];
  readonly groups: readonly string[];
}

interface LaneParts<T> {
  readonly clock: Clock;
  /** The longest waiting first. */
  readonly next: (most: number, skipped: Skipped) => Promise<readonly T[]>;
  readonly waitingOf: (item: T) => Waiting;
  /** Deliveries to an address at once; 0 while it is left alone. */
  readonly mostOf: (address: string) => number;
  /** Puts off an item whose address is left alone. */
  readonly putOff: (item: T) => Promise<void>;
  readonly deliver: (item: T, signal: AbortSignal) => Promise<void>;
}

/** Deliveries at once: in all, of one account, and to one address. */
const AT_ONCE = 64;
const OF_ACCOUNT_AT_ONCE = 16;
export const OF_ADDRESS_AT_ONCE = 4;
/** Items that one query returns, and groups that it leaves out. */
const LOOKED_AT = 256;
const GROUPS_MAX = 4_096;
/** While something is delivered, new work is looked for at least so often. */
const LOOK_MS = 1_000;
const TOGETHER_MS = 5;

export class Lanes<T> {
  readonly #parts: LaneParts<T>;
  readonly #running = new Map<string, { readonly of: Waiting; readonly done: Promise<void> }>();
  #fault: { readonly reason: unknown } | undefined;

  constructor(parts: LaneParts<T>) {
    this.#parts = parts;
  }

  /**
   * Delivers until nothing is due any more; when something is due next, infinity for never.
   * @param woken resolves when something new may be due
   */
  async round(signal: AbortSignal, woken: () => Promise<void>): Promise<number> {
    this.#fault = undefined;
    try {
      for (;;) {
        const wake = woken();
        const next = await this.#startDue(signal);
        if (this.#running.size > 0) await this.#anything(wake, signal);
        else if (next !== undefined) return next;
      }
    } catch (reason) {
      await this.#ended();
      throw reason;
    }
  }

  /** Starts all that has a place; when something is due next, undefined where that is not known yet. */
  async #startDue(signal: AbortSignal): Promise<number | undefined> {
    const groups = new Set<string>();
    for (;;) {
      if (this.#fault !== undefined && this.#running.size === 0) throw this.#fault.reason;
      const skipped = { ids: [...this.#running.keys()], groups: [...groups] };
      const items = await this.#parts.next(LOOKED_AT, skipped);
      const nowMs = this.#parts.clock();
      const due = items.filter((item) => this.#parts.waitingOf(item).dueMs <= nowMs);
      const [first] = items;
      const nextMs = first === undefined ? Infinity : this.#parts.waitingOf(first).dueMs;
      const isStopped = signal.aborted || this.#fault !== undefined;
      if (isStopped) return nextMs;
      // What was skipped may be due again by now.
      const isWhole = skipped.ids.length === 0 && groups.size === 0;
      if (due.length === 0) return isWhole ? nextMs : undefined;
      if (this.#running.size >= AT_ONCE || groups.size >= GROUPS_MAX) return undefined;
      for (const item of due) await this.#start(item, groups, signal);
    }
  }

  /** @param groups those that have no place are added */
  async #start(item: T, groups: Set<string>, signal: AbortSignal): Promise<void> {
    const of = this.#parts.waitingOf(item);
    const most = this.#parts.mostOf(of.address);
    if (most === 0) return this.#parts.putOff(item);
    const all = [...this.#running.values()].map((one) => one.of);
    const ofAddress = all.filter(({ address }) => address === of.address).length;
    const ofAccount = all.filter(({ account }) => account === of.account).length;
    const isFull = ofAddress >= most || ofAccount >= OF_ACCOUNT_AT_ONCE || all.length >= AT_ONCE;
    if (isFull) {
      groups.add(of.group);
      return;
    }
    const done = this.#parts
      .deliver(item, signal)
      .catch((reason: unknown) => {
        this.#fault ??= { reason };
      })
      .finally(() => this.#running.delete(of.id));
    this.#running.set(of.id, { of, done });
  }

  async #ended(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  /** A delivery has ended, or something new may be due. */
  async #anything(wake: Promise<void>, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#fault !== undefined) return this.#ended();
    const over = new AbortController();
    const late = sleep(LOOK_MS, undefined, { signal: over.signal, ref: false });
    const done = [...this.#running.values()].map((one) => one.done);
    // Those that end together are replaced by one query.
    const ended = Promise.race(done).then(() => sleep(TOGETHER_MS));
    await Promise.race([ended, wake, late.catch(() => undefined)]);
    over.abort();
  }
}
