// A group of subscribers with equal subscriptions: their messages are collected and encoded once.
import { randomHex } from '../base/random.ts';
import { Batch, type Frame } from './batch.ts';
import { dataFrame } from './frames.ts';
import { ReplayBuffer, type BufferedMessage } from './replayBuffer.ts';
import { type LogPosition, parsePosition, formatPosition } from './logPosition.ts';
import type { TopicLog } from './topicLog.ts';

/** The topics and options of a subscriber. Subscribers with equal subscriptions share a group. */
export interface Subscription {
  readonly topics: readonly string[];
  /** Undefined: all symbols. */
  readonly symbols: readonly string[] | undefined;
  /** 0: every message; otherwise messages are conflated to the latest of each symbol in this interval. */
  readonly intervalMs: number;
  /** Messages have ids, so that a subscriber can resume after a disconnect. */
  readonly ids: boolean;
  /** Changes each message for these subscribers; undefined: messages are sent unchanged. */
  readonly transform?: MessageTransform | undefined;
}

export interface MessageTransform {
  /** Transforms of equal names are equal. */
  readonly name: string;
  readonly of: (json: string) => string;
}

export interface Subscriber {
  /** Receives messages. It must neither throw nor wait. */
  take(batch: Batch): void;
  /** Queued bytes of a subscriber that accepts no more; otherwise 0 or undefined. */
  readonly queuedBytes?: number;
}

/** Renders a message as JSON, once for all groups; undefined if there is nothing to send. */
export type Render = () => string | undefined;

/** The messages that a resuming subscriber missed. */
interface Resumed {
  readonly frames: readonly Frame[];
  /** Number of messages that are no longer buffered; null if it is unknown. */
  readonly gap: number | null;
}

export class Group {
  readonly subscription: Subscription;
  readonly subscribers = new Set<Subscriber>();
  /** When the last subscriber left, epoch milliseconds. */
  leftMs = 0;
  /** No subscriber can join it any more. */
  isEnded = false;
  /** Prefix of this group's ids, by which it recognizes them. */
  readonly #epoch = randomHex(4);
  #ordinal = 0;
  #pending: Frame[] = [];
  readonly #latest = new Map<string, Render>();
  /** The messages of `#pending`, if they have ids. */
  #toBuffer: BufferedMessage[] = [];
  readonly #replayBuffer = new ReplayBuffer();
  /** The log that is shared with other nodes. */
  readonly #log: TopicLog | undefined;
  #position: LogPosition | undefined;
  /** The log ordinals of the pending messages. */
  #pendingOrdinals: number[] = [];
  /** Subscribers that joined while messages were being written to the log, with the next ordinal then. */
  readonly #joinOrdinals = new Map<Subscriber, number>();

  constructor(subscription: Subscription, log?: TopicLog) {
    this.subscription = subscription;
    this.#log = this.isResumable ? log : undefined;
    this.#position = this.#log?.position;
  }

  /** Whether its messages are logged. A conflated subscriber resumes with the latest messages instead. */
  get isResumable(): boolean {
    return this.subscription.ids && this.subscription.intervalMs === 0;
  }

  get hasPending(): boolean {
    return this.#pending.length > 0 || this.#latest.size > 0;
  }

  /** Messages that are sent in the next turn. */
  get pendingCount(): number {
    return this.#pending.length + this.#latest.size;
  }

  join(subscriber: Subscriber): void {
    this.subscribers.add(subscriber);
    if (this.#log?.isIdle === false) this.#joinOrdinals.set(subscriber, this.#log.ordinal);
  }

  leave(subscriber: Subscriber): boolean {
    this.#joinOrdinals.delete(subscriber);
    return this.subscribers.delete(subscriber);
  }

  /** Adds a message that is in the log, or could not be logged. */
  addLogged(
    symbol: string,
    json: string,
    position: LogPosition | undefined,
    ordinal: number,
  ): void {
    this.#position = position ?? this.#position;
    this.#enqueue(symbol, json, ordinal);
  }

  add(symbol: string, render: Render): void {
    if (this.subscription.intervalMs > 0) {
      this.#latest.set(symbol, render);
      return;
    }
    const json = render();
    if (json !== undefined) this.#enqueue(symbol, json, this.#log?.ordinal ?? 0);
  }

  /** Sends the pending messages. */
  flush(): void {
    for (const [symbol, render] of this.#latest) {
      const json = render();
      if (json !== undefined) this.#enqueue(symbol, json, 0);
    }
    this.#latest.clear();
    if (this.#pending.length === 0) return;
    const batch = new Batch(this.#pending);
    this.#pending = [];
    this.#replayBuffer.add(this.#toBuffer);
    this.#toBuffer = [];
    const ordinals = this.#pendingOrdinals;
    this.#pendingOrdinals = [];
    for (const subscriber of this.subscribers) {
      const ownBatch =
        this.#joinOrdinals.size === 0 ? batch : this.#withoutEarlier(batch, ordinals, subscriber);
      if (ownBatch !== undefined) subscriber.take(ownBatch);
    }
  }

  /** Removes messages that were published before the subscriber joined. */
  #withoutEarlier(
    batch: Batch,
    ordinals: readonly number[],
    subscriber: Subscriber,
  ): Batch | undefined {
    const joinOrdinal = this.#joinOrdinals.get(subscriber);
    if (joinOrdinal === undefined) return batch;
    const first = ordinals.findIndex((ordinal) => ordinal >= joinOrdinal);
    if (first < 0) return undefined;
    this.#joinOrdinals.delete(subscriber);
    return first === 0 ? batch : new Batch(batch.frames.slice(first));
  }

  /** @param id of the last message that the resuming subscriber received */
  resumeAfter(id: string, subscriber?: Subscriber): Resumed {
    // Messages that are being written to the log follow that id.
    if (subscriber !== undefined) this.#joinOrdinals.delete(subscriber);
    const [epoch, text = '', position = ''] = id.split('-');
    const received = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
    if (epoch !== this.#epoch || received === undefined || received > this.#ordinal) {
      return this.#resumeFromLog(parsePosition(position));
    }
    const missed = this.#ordinal - received;
    const frames = this.#replayBuffer.latest(missed).map(({ id, json, symbol }) => ({
      symbol,
      bytes: dataFrame(json, id),
    }));
    return { frames, gap: missed - frames.length };
  }

  /** Reads messages that other nodes published, or this process before it ended the group. */
  #resumeFromLog(position: LogPosition | undefined): Resumed {
    if (position === undefined || this.#log === undefined) return { frames: [], gap: null };
    const { symbols, topics } = this.subscription;
    const { isWhole, messages } = this.#log.readAfter(topics, symbols, position);
    const frames = messages.map(({ json, place, symbol }) => ({
      symbol,
      bytes: dataFrame(this.#transform(json), `0-0-${formatPosition(place)}`),
    }));
    return { frames, gap: isWhole ? 0 : null };
  }

  /** Encodes a message for a single subscriber, with the id of the group's latest message. */
  createFrame(symbol: string, json: string): Frame {
    return { symbol, bytes: dataFrame(this.#transform(json), this.#id) };
  }

  #enqueue(symbol: string, json: string, logOrdinal: number): void {
    this.#ordinal += 1;
    const id = this.#id;
    const sent = this.#transform(json);
    if (id !== undefined) this.#toBuffer.push({ symbol, json: sent, id });
    this.#pending.push({ symbol, bytes: dataFrame(sent, id) });
    this.#pendingOrdinals.push(logOrdinal);
  }

  #transform(json: string): string {
    return this.subscription.transform?.of(json) ?? json;
  }

  /** The id of the latest message. */
  get #id(): string | undefined {
    if (!this.subscription.ids) return undefined;
    const position = this.#position === undefined ? '' : `-${formatPosition(this.#position)}`;
    return `${this.#epoch}-${this.#ordinal}${position}`;
  }
}

/** A key that is equal for equal subscriptions. */
export const subscriptionKey = ({
  transform,
  ids,
  intervalMs,
  symbols,
  topics,
}: Subscription): string =>
  JSON.stringify([
    topics.toSorted(),
    symbols?.toSorted() ?? null,
    intervalMs,
    ids,
    transform?.name ?? null,
  ]);
