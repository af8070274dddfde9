// Limits the requests that start in one turn of the event loop; the rest are queued fairly by account.
// Without it, 2,000 connections of one account were parsed and planned in one turn of 170 ms, while all
// others waited.
import { FairQueue } from '../../store/queues/fairQueue.ts';

/** To parse and plan a first read takes 85 µs, so 3 ms; 32 busy connections are never deferred. */
const TURN_REQUESTS = 32;

export class RequestTurns {
  /** At most one request of each connection, so the limit of open files bounds it. */
  readonly #waiting = new FairQueue<() => void>();
  #started = 0;

  /** Starts a request in this turn or in a later one. @param accountOf called only if it is deferred */
  enter(start: () => void, accountOf: () => string): void {
    if (this.#started >= TURN_REQUESTS || this.#waiting.size > 0) {
      this.#waiting.push(accountOf(), start);
      return;
    }
    if (this.#started === 0) setImmediate(this.#next);
    this.#started += 1;
    start();
  }

  readonly #next = (): void => {
    for (this.#started = 0; this.#started < TURN_REQUESTS; this.#started += 1) {
      const start = this.#waiting.take(() => true);
      if (start === undefined) break;
      start();
    }
    if (this.#waiting.size > 0) setImmediate(this.#next);
    else this.#started = 0;
  };
}
