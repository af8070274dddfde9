// One connection between a node that reads and the one that serves: in order, late, stalled, broken.
import type { Seeded } from '../../crash/rounds/seeded.ts';
import type { VirtualTime } from './virtualTime.ts';

type Take = (message: never) => void;

interface Way {
  readonly waiting: object[];
  take: Take;
}

export class Link {
  readonly #time: VirtualTime;
  readonly #random: Seeded;
  readonly #ways: Record<'up' | 'down', Way> = {
    up: { waiting: [], take: () => undefined },
    down: { waiting: [], take: () => undefined },
  };
  isBroken = false;
  readonly #stalled = { up: false, down: false };

  constructor(time: VirtualTime, random: Seeded) {
    this.#time = time;
    this.#random = random;
  }

  /** Who takes what goes one way. */
  to(way: 'up' | 'down', take: Take): void {
    this.#ways[way].take = take;
  }

  send(way: 'up' | 'down', message: object): void {
    if (this.isBroken) return;
    this.#ways[way].waiting.push(structuredClone(message));
    const latencyMs = this.#random.chance(0.02)
      ? this.#random.between(5, 100)
      : this.#random.next();
    this.#time.at(latencyMs, () => this.#pump(way));
  }

  /** Nothing arrives one way meanwhile, and all of it then. */
  stall(way: 'up' | 'down', durationMs: number): void {
    this.#stalled[way] = true;
    this.#time.at(durationMs, () => {
      this.#stalled[way] = false;
      const { length } = this.#ways[way].waiting;
      for (let at = 0; at < length; at += 1) this.#pump(way);
    });
  }

  /** The first one that waits arrives, whichever was meant: never out of order. */
  #pump(way: 'up' | 'down'): void {
    if (this.isBroken || this.#stalled[way]) return;
    const { take, waiting } = this.#ways[way];
    const message = waiting.shift();
    if (message !== undefined) take(message as never);
  }
}
