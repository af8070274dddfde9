// Logs the messages of resumable topics for other nodes before they are sent. A subscriber that resumes at
// any node receives the messages after its last position.
import { monotonicMs } from '../base/clock.ts';
import { parseEntries, formatEntries, type LogEntry } from './logEntries.ts';
import { LoggedTopics } from './loggedTopics.ts';
import { LAST_INDEX, type LogPosition } from './logPosition.ts';
import { LogCheckpoints } from './logCheckpoints.ts';

/** The storage of logs. No method throws: what is unavailable is undefined. */
export interface LogStore {
  /** Opens the log. Undefined: it is unavailable. `last` is the latest sequence. */
  open(): Promise<
    { readonly tag: string; readonly first: number; readonly last: number } | undefined
  >;
  /** Reads entries up to a sequence, oldest first. @returns whether it was read to the end */
  read(last: number, take: (sequence: number, text: string) => void): Promise<boolean>;
  /** Appends entries. Undefined: it is unknown whether they are stored. */
  append(text: string): Promise<Pick<LogPosition, 'tag' | 'sequence'> | undefined>;
}

/** A message, and the callback that sends it once it is logged. */
interface OutgoingMessage {
  readonly topic: string;
  readonly symbol: string;
  readonly json: string;
  /** @param place undefined if it could not be logged @param ordinal increases with each message */
  readonly send: (place: LogPosition | undefined, ordinal: number) => void;
}

/** The state of a topic that another node, or an earlier process, logged. */
interface RecoveredTopic {
  /** The checkpoint up to which all data was sent. */
  readonly checkpoint: string;
  /** The messages after the checkpoint. */
  readonly messages: Set<string>;
}

/** A topic that is being logged. */
interface TopicState {
  /** When logging began. */
  readonly sinceMs: number;
  checkpoint: string | undefined;
  /** The messages after the checkpoint. */
  messages: Set<string>;
  last: LogPosition;
}

interface LogParts {
  readonly hasSubscribers: (topic: string) => boolean;
  /** Called after messages were sent. */
  readonly onSent: () => void;
}

/** Checkpoints are repeated, because logs delete entries after five minutes, also those of idle topics. */
const REFRESH_MS = 60_000;
/** Largest append: NATS accepts a megabyte by default, and a character is at most six bytes. */
const TEXT_CHARACTERS_MAX = 150_000;

export class TopicLog {
  readonly #store: LogStore;
  #topics = new LoggedTopics();
  readonly #states = new Map<string, TopicState>();
  readonly #recovered = new Map<string, RecoveredTopic>();
  #pending: OutgoingMessage[] = [];
  /** Ordinal of the next message. */
  #ordinal = 0;
  /** Messages with lower ordinals were sent. */
  #sentOrdinal = 0;
  readonly #checkpoints = new LogCheckpoints();
  readonly #gaps = new Set<string>();
  #tail: Promise<void> = Promise.resolve();
  #position: LogPosition | undefined;
  #opening: Promise<boolean> | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #parts: LogParts;

  constructor(store: LogStore, parts: LogParts) {
    this.#store = store;
    this.#parts = parts;
  }

  /** Position of the latest logged message; undefined before the log is open. */
  get position(): LogPosition | undefined {
    return this.#position;
  }

  /** Ordinal of the next message that is added. */
  get ordinal(): number {
    return this.#ordinal;
  }

  get isIdle(): boolean {
    return this.#sentOrdinal === this.#ordinal;
  }

  /** Opens and reads the log once. @returns false if it is unavailable */
  async ensureOpen(): Promise<boolean> {
    if (this.#position !== undefined) return true;
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  isLogged(topic: string): boolean {
    return this.#states.has(topic);
  }

  /** The recovered state of a topic that is not being logged yet. */
  recovered(topic: string): Readonly<RecoveredTopic> | undefined {
    return this.#recovered.get(topic);
  }

  /**
   * Logs the messages of a topic from now on; a subscriber that may resume from here waits for `settled`. A
   * repeated call does nothing.
   * @param missing messages since the recovered state; undefined if they are unknown
   */
  startLogging(topic: string, missing?: readonly Pick<OutgoingMessage, 'symbol' | 'json'>[]): void {
    const last = this.#position;
    if (last === undefined || this.#states.has(topic)) return;
    this.#recovered.delete(topic);
    this.#states.set(topic, {
      sinceMs: monotonicMs(),
      checkpoint: undefined,
      messages: new Set(),
      last,
    });
    if (missing === undefined) {
      // Other nodes must not assume completeness either, despite later checkpoints.
      this.#gaps.add(topic);
      this.#topics.markIncompleteBefore(topic, last);
    } else this.#topics.addTopic(topic, last);
    for (const { json, symbol } of missing ?? []) {
      this.add({ topic, symbol, json, send: () => undefined });
    }
    this.#timer ??= setInterval(() => this.#refresh(), REFRESH_MS).unref();
  }

  /** Stops logging a topic whose messages are no longer published. */
  stopLogging(topic: string): void {
    const state = this.#states.get(topic);
    this.#states.delete(topic);
    this.#checkpoints.remove(topic);
    if (state?.checkpoint === undefined) return;
    this.#recovered.set(topic, { checkpoint: state.checkpoint, messages: state.messages });
  }

  /** Adds a message, which is sent in the next turn. */
  add(message: OutgoingMessage): void {
    this.#states.get(message.topic)?.messages.add(message.json);
    this.#pending.push(message);
    this.#ordinal += 1;
  }

  /** Sets a checkpoint: the messages added so far cover all data up to it. */
  setCheckpoint(topic: string, checkpoint: string): void {
    const state = this.#states.get(topic);
    if (state === undefined) return;
    state.checkpoint = checkpoint;
    state.messages.clear();
    this.#checkpoints.add(topic, checkpoint, this.#ordinal, state.last);
    if (this.isIdle) this.#checkpoints.recordSent(this.#ordinal);
  }

  get pendingCount(): number {
    return this.#pending.length;
  }

  /** Logs the pending messages, and then sends them in their order. */
  flush(): void {
    const pending = this.#pending;
    this.#pending = [];
    const parts = splitIntoAppends(pending);
    if (parts.length === 0 && (this.#checkpoints.hasReady || this.#gaps.size > 0)) parts.push([]);
    for (const part of parts) this.#append(part);
  }

  /** Waits until all messages added so far are sent. */
  async flushed(): Promise<void> {
    this.flush();
    await this.#tail;
  }

  /** The messages after a position, for subscribers that resume. */
  readAfter(
    ...query: Parameters<LoggedTopics['readAfter']>
  ): ReturnType<LoggedTopics['readAfter']> {
    return this.#topics.readAfter(...query);
  }

  close(): void {
    clearInterval(this.#timer);
    this.flush();
  }

  #append(part: readonly OutgoingMessage[]): void {
    const gaps = [...this.#gaps].map((topic): LogEntry => ({ kind: 'gap', topic }));
    const messages = part.map((one): LogEntry => ({ kind: 'message', ...one }));
    const checkpoints = this.#checkpoints
      .takeReady()
      .map((one): LogEntry => ({ kind: 'checkpoint', ...one }));
    const entries = [...gaps, ...messages, ...checkpoints];
    const sending = this.#store.append(formatEntries(entries));
    this.#tail = this.#tail.then(async () => {
      this.#finishAppend(entries, await sending, part);
      // Otherwise the checkpoints are written with the pending messages.
      if (this.isIdle && this.#checkpoints.hasReady) this.flush();
    });
  }

  #finishAppend(
    entries: readonly LogEntry[],
    appended: Pick<LogPosition, 'tag' | 'sequence'> | undefined,
    part: readonly OutgoingMessage[],
  ): void {
    if (appended === undefined) this.#recordGaps(entries);
    else this.#remember(entries, appended);
    const first = entries.findIndex(({ kind }) => kind === 'message');
    for (const [at, { send }] of part.entries()) {
      send(appended && { ...appended, index: first + at }, this.#sentOrdinal);
      this.#sentOrdinal += 1;
    }
    this.#checkpoints.recordSent(this.#sentOrdinal);
    this.#parts.onSent();
  }

  /** Records a gap for subscribers that resume: here immediately, at other nodes with the next append. */
  #recordGaps(entries: readonly LogEntry[]): void {
    const last = this.#position;
    for (const { topic } of entries) {
      this.#gaps.add(topic);
      if (last !== undefined)
        this.#topics.markIncompleteBefore(topic, { ...last, index: last.index + 1 });
    }
  }

  #remember(
    entries: readonly LogEntry[],
    { sequence, tag }: Pick<LogPosition, 'tag' | 'sequence'>,
  ): void {
    if (tag !== this.#position?.tag) this.#resetFor(tag);
    let ordinal = this.#sentOrdinal;
    for (const [index, entry] of entries.entries()) {
      const place = { tag, sequence, index };
      if (entry.kind === 'gap') this.#gaps.delete(entry.topic);
      else if (entry.kind === 'message') {
        this.#topics.add(entry.topic, { ...entry, place });
        this.#checkpoints.recordLogged(entry.topic, ordinal, place);
        const state = this.#states.get(entry.topic);
        if (state !== undefined) state.last = place;
        ordinal += 1;
      }
      this.#position = place;
    }
  }

  /** Resets the state: a new log has the same name and none of the former messages. */
  #resetFor(tag: string): void {
    const place = { tag, sequence: 0, index: LAST_INDEX };
    this.#topics = new LoggedTopics();
    for (const [topic, state] of this.#states) {
      this.#topics.markIncompleteBefore(topic, place);
      state.last = place;
    }
    this.#recovered.clear();
  }

  #refresh(): void {
    for (const [topic, { checkpoint, sinceMs }] of this.#states) {
      if (!this.#parts.hasSubscribers(topic) && monotonicMs() - sinceMs > REFRESH_MS)
        this.stopLogging(topic);
      else if (checkpoint !== undefined && !this.#checkpoints.has(topic))
        this.setCheckpoint(topic, checkpoint);
    }
    this.flush();
  }

  async #open(): Promise<boolean> {
    const log = await this.#store.open();
    if (log === undefined) return false;
    const { first, last, tag } = log;
    const before = { tag, sequence: first - 1, index: LAST_INDEX };
    const isRead = await this.#store.read(last, (sequence, text) => {
      for (const [index, entry] of parseEntries(text).entries()) {
        this.#recoverEntry(entry, { tag, sequence, index }, before);
      }
    });
    if (!isRead) {
      this.#topics = new LoggedTopics();
      this.#recovered.clear();
      return false;
    }
    this.#position = { tag, sequence: last, index: LAST_INDEX };
    return true;
  }

  #recoverEntry(entry: LogEntry, place: LogPosition, before: LogPosition): void {
    const { kind, topic } = entry;
    if (kind === 'gap') return this.#topics.markIncompleteBefore(topic, place);
    if (kind === 'checkpoint') {
      const last = entry.last.tag === place.tag ? entry.last : before;
      this.#topics.addTopic(topic, last);
      const { messages } = this.#topics.readAfter([topic], undefined, last);
      const texts = new Set(messages.map(({ json }) => json));
      this.#recovered.set(topic, { checkpoint: entry.checkpoint, messages: texts });
      return;
    }
    this.#topics.addTopic(topic, before);
    this.#topics.add(topic, { ...entry, place });
    this.#recovered.get(topic)?.messages.add(entry.json);
  }
}

/** Splits messages into parts that fit into one append. */
function splitIntoAppends(pending: readonly OutgoingMessage[]): OutgoingMessage[][] {
  const parts: OutgoingMessage[][] = [];
  let characters = Infinity;
  for (const message of pending) {
    if (characters + message.json.length > TEXT_CHARACTERS_MAX) {
      parts.push([]);
      characters = 0;
    }
    parts.at(-1)?.push(message);
    characters += message.json.length;
  }
  return parts;
}
