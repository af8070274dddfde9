// Virtual time: the next event runs immediately, and the work that waited for it runs before the one after.
import { setImmediate } from 'node:timers/promises';
import { eventQueue } from '../../../../bench/cluster/eventQueue.ts';

type Happening = () => void | Promise<void>;

export class VirtualTime {
  nowMs = 0;
  readonly #queue = eventQueue<Happening>();

  at(delayMs: number, happens: Happening): void {
    this.#queue.add(this.nowMs + Math.max(0, delayMs), happens);
  }

  /** Timers of a node that may be killed. */
  afterFor(isAlive: () => boolean): (delayMs: number, run: () => void) => () => void {
    return (delayMs, run) => {
      let isOff = false;
      this.at(delayMs, () => {
        if (!isOff && isAlive()) run();
      });
      return () => (isOff = true);
    };
  }

  async runFor(durationMs: number): Promise<void> {
    let isOver = false;
    this.at(durationMs, () => {
      isOver = true;
    });
    while (!isOver) {
      const next = this.#queue.next();
      if (next === undefined) return;
      this.nowMs = next.ms;
      await next.item();
      await setImmediate();
    }
  }
}
