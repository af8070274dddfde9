// One commit for all who wait: what comes is gathered by its owner, and written together.
import { monotonicMs } from '../base/clock.ts';

/** When a group is written: after a delay, at once, or now. No two are written beside each other. */
export class GroupCommit {
  readonly #write: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #dueMs = 0;
  #writing: Promise<void> = Promise.resolve();
  #isStopped = false;

  /** @param write takes what was gathered until it runs, and never rejects */
  constructor(write: () => Promise<void>) {
    this.#write = write;
  }

  /** A group that is gathered already is not put off; a shorter delay takes it out of its own. */
  soon(delayMs: number): void {
    if (this.#isStopped) return;
    const dueMs = monotonicMs() + delayMs;
    if (this.#timer !== undefined && this.#dueMs <= dueMs) return;
    clearTimeout(this.#timer);
    this.#dueMs = dueMs;
    this.#timer = setTimeout(() => void this.flush(), delayMs);
  }

  /** From now on nothing is written by itself. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Resolves when all that was gathered before is written. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(this.#write);
    await this.#writing;
  }
}
