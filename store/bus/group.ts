// Subscribers that want the same messages: what is for them is gathered and joined once.
import { randomHex } from '../base/random.ts';
import { Batch, type Frame } from './batch.ts';
import { dataFrame } from './frames.ts';
import { Held, type HeldMessage } from './held.ts';

/** What a subscriber wants. Those of equal subscriptions share a group. */
export interface Subscription {
  readonly topics: readonly string[];
  /** Undefined for all. */
  readonly symbols: readonly string[] | undefined;
  /** 0: every message; else the newest of each symbol, at most one in so many milliseconds. */
  readonly intervalMs: number;
  /** Messages have ids, so that a subscriber may go on where it was cut off. */
  readonly ids: boolean;
  /** Each message as it is written to these subscribers; undefined: as it is. */
  readonly disguise?: Disguise | undefined;
}

export interface Disguise {
  /** Those of one name write alike. */
  readonly name: string;
  readonly of: (json: string) => string;
}

export interface Subscriber {
  /** Must not throw, nor wait. */
  take(batch: Batch): void;
  /** Bytes that wait for it, where it would not take more; 0 or undefined where it would. */
  readonly behind?: number;
}

/** JSON of a message; undefined when there is nothing to tell after all. Made once, for all groups. */
export type Render = () => string | undefined;

/** What a subscriber that came back missed. */
interface Resumed {
  readonly frames: readonly Frame[];
  /** Messages that are not held any more; null where nobody knows how many. */
  readonly gap: number | null;
}

export class Group {
  readonly subscription: Subscription;
  readonly subscribers = new Set<Subscriber>();
  /** When the last subscriber left, epoch milliseconds. */
  leftMs = 0;
  /** Names this group's ids: those of another one mean nothing to it. */
  readonly #epoch = randomHex(4);
  #ordinal = 0;
  #due: Frame[] = [];
  readonly #newest = new Map<string, Render>();
  /** Those of `#due`, where they have ids. */
  #toHold: HeldMessage[] = [];
  readonly #held = new Held();

  constructor(subscription: Subscription) {
    this.subscription = subscription;
  }

  get isDue(): boolean {
    return this.#due.length > 0 || this.#newest.size > 0;
  }

  /** Messages that wait for the next turn. */
  get waiting(): number {
    return this.#due.length + this.#newest.size;
  }

  add(symbol: string, render: Render): void {
    if (this.subscription.intervalMs > 0) {
      this.#newest.set(symbol, render);
      return;
    }
    const json = render();
    if (json !== undefined) this.#due.push(this.#framed(symbol, json));
  }

  /** Hands over what waits. */
  flush(): void {
    for (const [symbol, render] of this.#newest) {
      const json = render();
      if (json !== undefined) this.#due.push(this.#framed(symbol, json));
    }
    this.#newest.clear();
    if (this.#due.length === 0) return;
    const batch = new Batch(this.#due);
    this.#due = [];
    this.#held.add(this.#toHold);
    this.#toHold = [];
    for (const subscriber of this.subscribers) subscriber.take(batch);
  }

  /** @param id of the last message that was read */
  after(id: string): Resumed {
    const [epoch, text = ''] = id.split('-');
    const read = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
    if (epoch !== this.#epoch || read === undefined || read > this.#ordinal) {
      return { frames: [], gap: null };
    }
    const missed = this.#ordinal - read;
    const frames = this.#held.newest(missed).map(({ json, ordinal, symbol }) => ({
      symbol,
      bytes: dataFrame(json, this.#idOf(ordinal)),
    }));
    return { frames, gap: missed - frames.length };
  }

  /** A message of the group that is for one subscriber alone: it has the id of the last one. */
  framed(symbol: string, json: string): Frame {
    return { symbol, bytes: dataFrame(this.#written(json), this.#idOf(this.#ordinal)) };
  }

  #framed(symbol: string, json: string): Frame {
    this.#ordinal += 1;
    const written = this.#written(json);
    if (this.subscription.ids) {
      this.#toHold.push({ symbol, json: written, ordinal: this.#ordinal });
    }
    return { symbol, bytes: dataFrame(written, this.#idOf(this.#ordinal)) };
  }

  #written(json: string): string {
    return this.subscription.disguise?.of(json) ?? json;
  }

  #idOf(ordinal: number): string | undefined {
    return this.subscription.ids ? `${this.#epoch}-${ordinal}` : undefined;
  }
}

/** Equal for equal subscriptions. */
export const nameOf = ({ disguise, ids, intervalMs, symbols, topics }: Subscription): string =>
  JSON.stringify([
    ...[topics.toSorted(), symbols?.toSorted() ?? null],
    ...[intervalMs, ids, disguise?.name ?? null],
  ]);
