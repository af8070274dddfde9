// One connection between a reading node and the serving node: ordered, with latency, stalls and breaks.
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

  /** Sets the receiver of one direction. */
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

  /** Stalls one direction: its messages arrive after the duration. */
  stall(way: 'up' | 'down', durationMs: number): void {
    this.#stalled[way] = true;
    this.#time.at(durationMs, () => {
      this.#stalled[way] = false;
      const { length } = this.#ways[way].waiting;
      for (let at = 0; at < length; at += 1) this.#pump(way);
    });
  }

  /** Delivers the first waiting message, so that none arrives out of order. */
  #pump(way: 'up' | 'down'): void {
    if (this.isBroken || this.#stalled[way]) return;
    const { take, waiting } = this.#ways[way];
    const message = waiting.shift();
    if (message !== undefined) take(message as never);
  }
}
