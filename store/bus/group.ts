// Subscribers that want the same messages: what is for them is gathered and joined once.
import { randomHex } from '../base/random.ts';
import { Batch, type Frame } from './batch.ts';
import { dataFrame } from './frames.ts';
import { Held, type HeldMessage } from './held.ts';
import { type LogPlace, placeOf, placeText } from './logPlace.ts';
import type { TopicLog } from './topicLog.ts';

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
  /** Nobody can join it any more. */
  isEnded = false;
  /** Names this group's ids: those of another one mean nothing to it. */
  readonly #epoch = randomHex(4);
  #ordinal = 0;
  #due: Frame[] = [];
  readonly #newest = new Map<string, Render>();
  /** Those of `#due`, where they have ids. */
  #toHold: HeldMessage[] = [];
  readonly #held = new Held();
  /** Where messages are kept beyond this process. */
  readonly #log: TopicLog | undefined;
  #place: LogPlace | undefined;
  /** Ordinals in the log of what is due. */
  #logged: number[] = [];
  /** Subscribers that came after messages which are still on their way into the log. */
  readonly #since = new Map<Subscriber, number>();

  constructor(subscription: Subscription, log?: TopicLog) {
    this.subscription = subscription;
    this.#log = this.isKept ? log : undefined;
    this.#place = this.#log?.place;
  }

  /** Whoever gets the newest only comes back to the newest. */
  get isKept(): boolean {
    return this.subscription.ids && this.subscription.intervalMs === 0;
  }

  get isDue(): boolean {
    return this.#due.length > 0 || this.#newest.size > 0;
  }

  /** Messages that wait for the next turn. */
  get waiting(): number {
    return this.#due.length + this.#newest.size;
  }

  join(subscriber: Subscriber): void {
    this.subscribers.add(subscriber);
    if (this.#log?.isIdle === false) this.#since.set(subscriber, this.#log.ordinal);
  }

  leave(subscriber: Subscriber): boolean {
    this.#since.delete(subscriber);
    return this.subscribers.delete(subscriber);
  }

  /** One that is in the log, or could not be kept. */
  addKept(symbol: string, json: string, place: LogPlace | undefined, ordinal: number): void {
    this.#place = place ?? this.#place;
    this.#gather(symbol, json, ordinal);
  }

  add(symbol: string, render: Render): void {
    if (this.subscription.intervalMs > 0) {
      this.#newest.set(symbol, render);
      return;
    }
    const json = render();
    if (json !== undefined) this.#gather(symbol, json, this.#log?.ordinal ?? 0);
  }

  /** Hands over what waits. */
  flush(): void {
    for (const [symbol, render] of this.#newest) {
      const json = render();
      if (json !== undefined) this.#gather(symbol, json, 0);
    }
    this.#newest.clear();
    if (this.#due.length === 0) return;
    const batch = new Batch(this.#due);
    this.#due = [];
    this.#held.add(this.#toHold);
    this.#toHold = [];
    const logged = this.#logged;
    this.#logged = [];
    for (const subscriber of this.subscribers) {
      const own = this.#since.size === 0 ? batch : this.#newOf(batch, logged, subscriber);
      if (own !== undefined) subscriber.take(own);
    }
  }

  /** Without what was there when it came. */
  #newOf(batch: Batch, logged: readonly number[], subscriber: Subscriber): Batch | undefined {
    const since = this.#since.get(subscriber);
    if (since === undefined) return batch;
    const first = logged.findIndex((ordinal) => ordinal >= since);
    if (first < 0) return undefined;
    this.#since.delete(subscriber);
    return first === 0 ? batch : new Batch(batch.frames.slice(first));
  }

  /** @param id of the last message that was read, by the subscriber that goes on */
  after(id: string, subscriber?: Subscriber): Resumed {
    // What is on its way into the log comes behind that.
    if (subscriber !== undefined) this.#since.delete(subscriber);
    const [epoch, text = '', place = ''] = id.split('-');
    const read = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
    if (epoch !== this.#epoch || read === undefined || read > this.#ordinal) {
      return this.#afterPlace(placeOf(place));
    }
    const missed = this.#ordinal - read;
    const frames = this.#held.newest(missed).map(({ id, json, symbol }) => ({
      symbol,
      bytes: dataFrame(json, id),
    }));
    return { frames, gap: missed - frames.length };
  }

  /** What others told, or this process before it forgot the group. */
  #afterPlace(place: LogPlace | undefined): Resumed {
    if (place === undefined || this.#log === undefined) return { frames: [], gap: null };
    const { symbols, topics } = this.subscription;
    const { isWhole, messages } = this.#log.after(topics, symbols, place);
    const frames = messages.map(({ json, place: own, symbol }) => ({
      symbol,
      bytes: dataFrame(this.#written(json), `0-0-${placeText(own)}`),
    }));
    return { frames, gap: isWhole ? 0 : null };
  }

  /** A message of the group that is for one subscriber alone: it has the id of the last one. */
  framed(symbol: string, json: string): Frame {
    return { symbol, bytes: dataFrame(this.#written(json), this.#id) };
  }

  #gather(symbol: string, json: string, logged: number): void {
    this.#ordinal += 1;
    const id = this.#id;
    const written = this.#written(json);
    if (id !== undefined) this.#toHold.push({ symbol, json: written, id });
    this.#due.push({ symbol, bytes: dataFrame(written, id) });
    this.#logged.push(logged);
  }

  #written(json: string): string {
    return this.subscription.disguise?.of(json) ?? json;
  }

  /** Of the newest message. */
  get #id(): string | undefined {
    if (!this.subscription.ids) return undefined;
    const place = this.#place === undefined ? '' : `-${placeText(this.#place)}`;
    return `${this.#epoch}-${this.#ordinal}${place}`;
  }
}

/** Equal for equal subscriptions. */
export const nameOf = ({ disguise, ids, intervalMs, symbols, topics }: Subscription): string =>
  JSON.stringify([
    topics.toSorted(),
    symbols?.toSorted() ?? null,
    intervalMs,
    ids,
    disguise?.name ?? null,
  ]);
