// Delivers due items independently: a slow receiver occupies only its own share of the slots, and delays no
// other.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../store/base/clock.ts';

/** An item that waits for delivery. */
interface Waiting {
  readonly id: string;
  /** Owner of the item. */
  readonly account: string;
  readonly address: string;
  /** Unit that a query can exclude: its items have the same address. */
  readonly group: string;
  readonly dueMs: number;
}

/** Exclusions of a query: items that are being delivered, and groups without a free slot. */
interface Skipped {
  readonly ids: readonly string[];
  readonly groups: readonly string[];
}

interface LaneParts<T> {
  readonly clock: Clock;
  /** The longest waiting items first. */
  readonly next: (most: number, skipped: Skipped) => Promise<readonly T[]>;
  readonly toWaiting: (item: T) => Waiting;
  /** Concurrent deliveries to an address; 0 while it is paused. */
  readonly slotsFor: (address: string) => number;
  /** Postpones an item whose address is paused. */
  readonly postpone: (item: T) => Promise<void>;
  readonly deliver: (item: T, signal: AbortSignal) => Promise<void>;
}

/** Concurrent deliveries: in all, of one account, and to one address. */
const CONCURRENCY = 64;
const ACCOUNT_CONCURRENCY = 16;
export const ADDRESS_CONCURRENCY = 4;
/** Items that one query returns, and groups that it excludes. */
const BATCH_SIZE = 256;
const GROUPS_MAX = 4_096;
/** While something is delivered, new work is queried at least this often. */
const POLL_MS = 1_000;
const COALESCE_MS = 5;

export class Lanes<T> {
  readonly #parts: LaneParts<T>;
  readonly #running = new Map<string, { readonly item: Waiting; readonly done: Promise<void> }>();
  #fault: { readonly reason: unknown } | undefined;

  constructor(parts: LaneParts<T>) {
    this.#parts = parts;
  }

  /**
   * Delivers until nothing is due; returns when the next item is due, infinity for never.
   * @param woken resolves when something new may be due
   */
  async round(signal: AbortSignal, woken: () => Promise<void>): Promise<number> {
    this.#fault = undefined;
    try {
      for (;;) {
        const wake = woken();
        const next = await this.#startDue(signal);
        if (this.#running.size > 0) await this.#waitForChange(wake, signal);
        else if (next !== undefined) return next;
      }
    } catch (reason) {
      await this.#waitForAll();
      throw reason;
    }
  }

  /**
   * Starts every item that has a slot; returns when the next is due, undefined where that is not known yet.
   */
  async #startDue(signal: AbortSignal): Promise<number | undefined> {
    const groups = new Set<string>();
    for (;;) {
      if (this.#fault !== undefined && this.#running.size === 0) throw this.#fault.reason;
      const skipped = { ids: [...this.#running.keys()], groups: [...groups] };
      const items = await this.#parts.next(BATCH_SIZE, skipped);
      const nowMs = this.#parts.clock();
      const due = items.filter((item) => this.#parts.toWaiting(item).dueMs <= nowMs);
      const [first] = items;
      const nextMs = first === undefined ? Infinity : this.#parts.toWaiting(first).dueMs;
      const isStopped = signal.aborted || this.#fault !== undefined;
      if (isStopped) return nextMs;
      // Excluded items may be due again by now.
      const isWhole = skipped.ids.length === 0 && groups.size === 0;
      if (due.length === 0) return isWhole ? nextMs : undefined;
      if (this.#running.size >= CONCURRENCY || groups.size >= GROUPS_MAX) return undefined;
      for (const item of due) await this.#start(item, groups, signal);
    }
  }

  /** @param groups groups without a free slot are added */
  async #start(item: T, groups: Set<string>, signal: AbortSignal): Promise<void> {
    const waiting = this.#parts.toWaiting(item);
    const most = this.#parts.slotsFor(waiting.address);
    if (most === 0) return this.#parts.postpone(item);
    const all = [...this.#running.values()].map((one) => one.item);
    const ofAddress = all.filter(({ address }) => address === waiting.address).length;
    const ofAccount = all.filter(({ account }) => account === waiting.account).length;
    const isFull =
      ofAddress >= most || ofAccount >= ACCOUNT_CONCURRENCY || all.length >= CONCURRENCY;
    if (isFull) {
      groups.add(waiting.group);
      return;
    }
    const done = this.#parts
      .deliver(item, signal)
      .catch((reason: unknown) => {
        this.#fault ??= { reason };
      })
      .finally(() => this.#running.delete(waiting.id));
    this.#running.set(waiting.id, { item: waiting, done });
  }

  async #waitForAll(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  /** Waits until a delivery has ended, or something new may be due. */
  async #waitForChange(wake: Promise<void>, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#fault !== undefined) return this.#waitForAll();
    const over = new AbortController();
    const late = sleep(POLL_MS, undefined, { signal: over.signal, ref: false });
    const done = [...this.#running.values()].map((one) => one.done);
    // Deliveries that end together are replaced by one query.
    const ended = Promise.race(done).then(() => sleep(COALESCE_MS));
    await Promise.race([ended, wake, late.catch(() => undefined)]);
    over.abort();
  }
}
