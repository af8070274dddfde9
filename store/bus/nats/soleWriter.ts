// Ensures that only the serving process writes a log. A process that was suspended and replaced unnoticed
// must not append to its successor's messages: readers would receive messages twice.

/** A process that detects another writer is fenced for so long: by then it has detected whether it serves. */
const FENCE_MS = 5_000;

export class SoleWriter {
  readonly #clockMs: () => number;
  #tag: string | undefined;
  /** The latest sequence of which this process is certain. */
  #last = 0;
  /** Own messages that may or may not be stored. */
  #unconfirmed = 0;
  #inFlight = 0;
  #fencedUntilMs = -Infinity;

  readonly #fenceMs: number;

  /** @param clockMs a monotonic clock */
  constructor(clockMs: () => number, fenceMs = FENCE_MS) {
    this.#clockMs = clockMs;
    this.#fenceMs = fenceMs;
  }

  /** Sets the state read from the log. @param tag distinguishes the log from a later one of the same name */
  setLogState(tag: string, last: number): void {
    const lastMax = this.#last + this.#unconfirmed + this.#inFlight;
    if (tag === this.#tag && last > lastMax) this.fence();
    [this.#tag, this.#last, this.#unconfirmed] = [tag, last, 0];
  }

  /** Begins a write. @returns the sequence that must precede the message; undefined: do not write it */
  beginWrite(): number | undefined {
    if (this.#clockMs() < this.#fencedUntilMs) return undefined;
    this.#inFlight += 1;
    return this.#last + this.#inFlight - 1;
  }

  recordStored(sequence: number): void {
    this.#inFlight -= 1;
    this.#last = Math.max(this.#last, sequence);
  }

  /** Ends a write whose message may or may not be stored. */
  recordUnconfirmed(): void {
    this.#inFlight -= 1;
    this.#unconfirmed += 1;
  }

  /** Ends a write that was rejected: another message was stored instead. */
  recordRejected(): void {
    this.#inFlight -= 1;
    this.fence();
  }

  /** The remaining time without writes. */
  get fencedMs(): number {
    return Math.max(0, this.#fencedUntilMs - this.#clockMs());
  }

  fence(): void {
    this.#fencedUntilMs = this.#clockMs() + this.#fenceMs;
  }
}
