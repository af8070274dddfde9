// Buffers the messages of a group for subscribers that resume. They are stored as text, because their bytes
// are slices of memory shared with other messages, all of which one short message would retain.

/** Limits of the buffered messages of a group. */
const MESSAGES_MAX = 10_000;
const BYTES_MAX = 4 * 1024 ** 2;
/** The list is compacted after so many messages were dropped: each message is moved about once. */
const DROPPED_MAX = MESSAGES_MAX / 4;

export interface BufferedMessage {
  readonly symbol: string;
  /** As sent to the subscribers. */
  readonly json: string;
  readonly id: string;
}

export class ReplayBuffer {
  /** Dropped messages are undefined until the list is compacted. */
  #messages: (BufferedMessage | undefined)[] = [];
  /** Index of the oldest buffered message. */
  #first = 0;
  #bytes = 0;

  add(messages: readonly BufferedMessage[]): void {
    this.#messages.push(...messages);
    for (const { json } of messages) this.#bytes += json.length;
    while (this.#messages.length - this.#first > MESSAGES_MAX || this.#bytes > BYTES_MAX) {
      this.#bytes -= this.#messages[this.#first]?.json.length ?? 0;
      this.#messages[this.#first] = undefined;
      this.#first += 1;
    }
    if (this.#first <= DROPPED_MAX) return;
    this.#messages = this.#messages.slice(this.#first);
    this.#first = 0;
  }

  /** The latest messages, oldest first; fewer if fewer are buffered. */
  latest(count: number): readonly BufferedMessage[] {
    const from = Math.max(this.#first, this.#messages.length - count);
    return this.#messages.slice(from).filter((one) => one !== undefined);
  }
}
