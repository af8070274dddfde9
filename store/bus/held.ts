// Messages that a group keeps for subscribers that come back. As text: their bytes are cut from memory that
// other messages share, all of which one short message would keep.

/** Messages of a group that are kept, and what they take. */
const MESSAGES_MAX = 10_000;
const BYTES_MAX = 4 * 1024 ** 2;
/** The list is cut once so many of its first are over: each message is moved about once. */
const OVER_MAX = MESSAGES_MAX / 4;

export interface HeldMessage {
  readonly symbol: string;
  /** As it is written to its subscribers. */
  readonly json: string;
  readonly id: string;
}

export class Held {
  /** Those that are over are let go at once, and their places later. */
  #messages: (HeldMessage | undefined)[] = [];
  /** Of the oldest one that is kept. */
  #first = 0;
  #bytes = 0;

  add(messages: readonly HeldMessage[]): void {
    this.#messages.push(...messages);
    for (const { json } of messages) this.#bytes += json.length;
    while (this.#messages.length - this.#first > MESSAGES_MAX || this.#bytes > BYTES_MAX) {
      this.#bytes -= this.#messages[this.#first]?.json.length ?? 0;
      this.#messages[this.#first] = undefined;
      this.#first += 1;
    }
    if (this.#first <= OVER_MAX) return;
    this.#messages = this.#messages.slice(this.#first);
    this.#first = 0;
  }

  /** The newest ones, oldest first; fewer where fewer are kept. */
  newest(count: number): readonly HeldMessage[] {
    const from = Math.max(this.#first, this.#messages.length - count);
    return this.#messages.slice(from).filter((one) => one !== undefined);
  }
}
