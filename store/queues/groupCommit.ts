// Schedules one commit for a group of waiting writes, which their owner collects.
import { monotonicMs } from '../base/clock.ts';

/** Writes a group after a delay or on flush. Writes never overlap. */
export class GroupCommit {
  readonly #write: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #dueMs = 0;
  #writing: Promise<void> = Promise.resolve();
  #isStopped = false;

  /** @param write writes all that was collected until it runs, and never rejects */
  constructor(write: () => Promise<void>) {
    this.#write = write;
  }

  /** Schedules a write. A pending write is never postponed; a shorter delay advances it. */
  schedule(delayMs: number): void {
    if (this.#isStopped) return;
    const dueMs = monotonicMs() + delayMs;
    if (this.#timer !== undefined && this.#dueMs <= dueMs) return;
    clearTimeout(this.#timer);
    this.#dueMs = dueMs;
    this.#timer = setTimeout(() => void this.flush(), delayMs);
  }

  /** Stops automatic writes. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Resolves when all that was collected before is written. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(this.#write);
    await this.#writing;
  }
}
