// Queues items that wait for one of several slots. Accounts take turns. An account alone may fill the queue;
// when it is full, the account with most items loses its last one. Nothing waits longer than its deadline or
// a minimum wait, and an item is refused immediately when the measured pace can't meet that.
import { Failure } from '../base/failure.ts';
import { FairQueue } from './fairQueue.ts';
import { TypicalTime } from './typicalTime.ts';

/** Limits of waiting items and their bytes. */
const WAITING_MAX = 5_000;
const WAITING_BYTES_MAX = 64 * 1024 ** 2;

/** An item that waits. */
export interface TimedItem {
  /** Empty for the server's own work, which waits without a limit. */
  readonly account: string;
  readonly deadlineMs: number;
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal;
}

interface LineOptions<Item> {
  /** Number of slots. */
  readonly places: () => number;
  /** Minimum wait of an item, even if its deadline is shorter. */
  readonly leastWaitMs: number;
  /** Bytes that an item occupies while it waits. */
  readonly bytesOf: (item: Item) => number;
}

interface Waiting<Item, Place> {
  readonly item: Item;
  readonly receive: (place: Place) => void;
  readonly refuse: (failure: Failure) => void;
}

export class TimedQueue<Item extends TimedItem, Place> {
  readonly #queue = new FairQueue<Waiting<Item, Place>>();
  readonly #options: LineOptions<Item>;
  #bytes = 0;
  /** Typical time in a slot. */
  readonly #typical = new TypicalTime();

  constructor(options: LineOptions<Item>) {
    this.#options = options;
  }

  get size(): number {
    return this.#queue.size;
  }

  /** Records the time that an item occupied a slot. */
  recordMs(ms: number): void {
    this.#typical.add(ms);
  }

  /** @throws Failure Busy with the time after which to retry; TimedOut when the client disconnected. */
  wait(item: Item): Promise<Place> {
    const { account, signal } = item;
    const waitMs = Math.max(this.#options.leastWaitMs, item.deadlineMs);
    if (signal?.aborted === true) return Promise.reject(callerGone());
    const expectedMs = this.#expectedMs(account);
    if (account !== '' && expectedMs > waitMs) return Promise.reject(busy(expectedMs));
    const bytes = this.#options.bytesOf(item);
    if (!this.#makeRoom(account, bytes)) return Promise.reject(busy(expectedMs));
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        this.#bytes -= bytes;
      };
      const waiting: Waiting<Item, Place> = {
        item,
        receive: (place) => {
          settle();
          resolve(place);
        },
        refuse: (failure) => {
          settle();
          reject(failure);
        },
      };
      const remove = (failure: Failure): void => {
        if (this.#queue.remove((one) => one === waiting)) waiting.refuse(failure);
      };
      const leave = (): void => remove(callerGone());
      const expire = (): void => remove(busy(this.#expectedMs(account)));
      const timer = account === '' ? undefined : setTimeout(expire, waitMs);
      this.#bytes += bytes;
      this.#queue.push(account, waiting);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /**
   * Assigns a free slot to the next item; false when none fits.
   * @param isAlike all items of an account fit the same slots
   */
  assign(placeFor: (item: Item) => Place | undefined, isAlike: boolean): boolean {
    let free: Place | undefined;
    const blockedAccounts = new Set<string>();
    const next = this.#queue.take(({ item }, account) => {
      if (blockedAccounts.has(account)) return false;
      free = placeFor(item);
      if (free === undefined && isAlike) blockedAccounts.add(account);
      return free !== undefined;
    });
    if (next === undefined || free === undefined) return false;
    next.receive(free);
    return true;
  }

  /** Estimates the wait of a new item: the other accounts have a turn for each item of its own. */
  #expectedMs(account: string): number {
    const own = this.#queue.sizeOf(account);
    const ahead = Math.min(this.#queue.size, own * Math.max(1, this.#queue.accounts));
    return Math.round((ahead * this.#typical.ms) / this.#options.places());
  }

  /** Evicts items of the longest line; false when that is the line of the new item. */
  #makeRoom(account: string, bytes: number): boolean {
    while (this.#queue.size >= WAITING_MAX || this.#bytes + bytes > WAITING_BYTES_MAX) {
      const longest = this.#queue.longest();
      if (longest === undefined) return true;
      if (this.#queue.sizeOf(longest) <= this.#queue.sizeOf(account) + 1) return false;
      this.#queue.takeLast(longest)?.refuse(busy(this.#expectedMs(longest)));
    }
    return true;
  }
}

const busy = (waitMs: number): Failure =>
  new Failure('Busy', 'too many others wait to be answered in time: try again later', waitMs);

export const callerGone = (): Failure => new Failure('TimedOut', 'the caller went away');
