// Holds what waits for one of several places. Accounts take turns; whoever is alone may use the whole
// line, and when it is full the account that has most in it makes room. Nothing waits longer than
// its deadline or a least time, and it is refused at once where the measured pace can't meet that.
import { Failure } from '../base/failure.ts';
import { FairQueue } from './fairQueue.ts';
import { TypicalTime } from './typicalTime.ts';

/** Items that wait, and what they hold. */
const WAITING_MAX = 5_000;
const WAITING_BYTES_MAX = 64 * 1024 ** 2;

/** What waits. */
export interface Timed {
  /** Empty: the server's own, which waits as long as it has to. */
  readonly account: string;
  readonly deadlineMs: number;
  /** The caller went away. */
  readonly signal?: AbortSignal;
}

interface LineOptions<Item> {
  /** Items that have a place at a time. */
  readonly places: () => number;
  /** Each may wait so long, however short its deadline is once it has a place. */
  readonly leastWaitMs: number;
  /** What an item holds while it waits. */
  readonly bytesOf: (item: Item) => number;
}

interface Waiting<Item, Place> {
  readonly item: Item;
  readonly receive: (place: Place) => void;
  readonly refuse: (failure: Failure) => void;
}

export class TimedLine<Item extends Timed, Place> {
  readonly #queue = new FairQueue<Waiting<Item, Place>>();
  readonly #options: LineOptions<Item>;
  #bytes = 0;
  /** In a place. */
  readonly #typical = new TypicalTime();

  constructor(options: LineOptions<Item>) {
    this.#options = options;
  }

  get size(): number {
    return this.#queue.size;
  }

  /** An item had a place for so long. */
  tookMs(ms: number): void {
    this.#typical.add(ms);
  }

  /** @throws Failure Busy with the time after which to try again; TimedOut when the caller left. */
  wait(item: Item): Promise<Place> {
    const { account, signal } = item;
    const waitMs = Math.max(this.#options.leastWaitMs, item.deadlineMs);
    if (signal?.aborted === true) return Promise.reject(callerLeft());
    const expectedMs = this.#expectedMs(account);
    if (account !== '' && expectedMs > waitMs) return Promise.reject(tooMany(expectedMs));
    const bytes = this.#options.bytesOf(item);
    if (!this.#makeRoom(account, bytes)) return Promise.reject(tooMany(expectedMs));
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
      const leave = (): void => remove(callerLeft());
      const late = (): void => remove(tooMany(this.#expectedMs(account)));
      const timer = account === '' ? undefined : setTimeout(late, waitMs);
      this.#bytes += bytes;
      this.#queue.push(account, waiting);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /**
   * Gives the place that is found for it to who is next; false when none finds one.
   * @param isAlike all items of an account find the same places
   */
  give(placeFor: (item: Item) => Place | undefined, isAlike: boolean): boolean {
    let free: Place | undefined;
    const without = new Set<string>();
    const next = this.#queue.take(({ item }, account) => {
      if (without.has(account)) return false;
      free = placeFor(item);
      if (free === undefined && isAlike) without.add(account);
      return free !== undefined;
    });
    if (next === undefined || free === undefined) return false;
    next.receive(free);
    return true;
  }

  /** How long a new item of an account would wait: others have a turn for each of its own. */
  #expectedMs(account: string): number {
    const own = this.#queue.sizeOf(account);
    const ahead = Math.min(this.#queue.size, own * Math.max(1, this.#queue.accounts));
    return Math.round((ahead * this.#typical.ms) / this.#options.places());
  }

  /** False where the newcomer's own account has most in a full line. */
  #makeRoom(account: string, bytes: number): boolean {
    while (this.#queue.size >= WAITING_MAX || this.#bytes + bytes > WAITING_BYTES_MAX) {
      const longest = this.#queue.longest();
      if (longest === undefined) return true;
      if (this.#queue.sizeOf(longest) <= this.#queue.sizeOf(account) + 1) return false;
      this.#queue.takeLast(longest)?.refuse(tooMany(this.#expectedMs(longest)));
    }
    return true;
  }
}

const tooMany = (waitMs: number): Failure =>
  new Failure('Busy', 'too many others wait to be answered in time: try again later', waitMs);

export const callerLeft = (): Failure => new Failure('TimedOut', 'the caller went away');
