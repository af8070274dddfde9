// Rounds of an outbox: what is due is delivered, and the next round begins when something is due next.
import type { Clock } from '../../store/base/clock.ts';

interface RoundParts {
  readonly clock: Clock;
  /** Delivers all that is due; when something is due next, infinity for never. */
  readonly round: (signal: AbortSignal, woken: () => Promise<void>) => Promise<number>;
  readonly onFault: (reason: unknown) => void;
}

/** It looks at least so often: the clock may be set. */
const LOOK_MS_MAX = 60_000;

export class Rounds {
  readonly #parts: RoundParts;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #watching = false;
  #woken = Promise.withResolvers<void>();
  /** Something may wait since the round began. */
  #isPoked = false;

  constructor(parts: RoundParts) {
    this.#parts = parts;
  }

  /** Looks by itself from now on. */
  start(): void {
    this.#watching = true;
    this.poke();
  }

  async stop(): Promise<void> {
    this.#watching = false;
    clearTimeout(this.#timer);
    this.#stop.abort();
    await this.#looking;
  }

  /** Something may wait: it is looked at soon. */
  poke(waitMs = 0): void {
    if (!this.#watching) return;
    clearTimeout(this.#timer);
    const run = (): void => {
      if (this.#looking !== undefined) {
        this.#isPoked = true;
        this.#woken.resolve();
        return;
      }
      this.#isPoked = false;
      this.look().then(
        (next) => this.poke(Math.min(LOOK_MS_MAX, Math.max(0, next - this.#parts.clock()))),
        (error: unknown) => {
          this.#parts.onFault(error);
          this.poke(LOOK_MS_MAX);
        },
      );
    };
    this.#timer = setTimeout(run, this.#isPoked ? 0 : waitMs).unref();
  }

  /** One round; when something is due next, infinity for never. */
  async look(): Promise<number> {
    while (this.#looking !== undefined) await this.#looking;
    let next = Infinity;
    this.#looking = this.#parts
      .round(this.#stop.signal, () => this.#nextPoke())
      .then((time) => {
        next = time;
      })
      .finally(() => {
        this.#looking = undefined;
        if (this.#isPoked) this.poke();
      });
    await this.#looking;
    return next;
  }

  /** Resolves at the next poke while a round runs. */
  #nextPoke(): Promise<void> {
    this.#woken = Promise.withResolvers<void>();
    return this.#woken.promise;
  }
}
