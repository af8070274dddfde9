// Rounds of an outbox: each delivers what is due; the next one starts when the next item is due.
import type { Clock } from '../../store/base/clock.ts';

interface RoundParts {
  readonly clock: Clock;
  /** Delivers all that is due; returns when the next item is due, infinity for never. */
  readonly round: (signal: AbortSignal, woken: () => Promise<void>) => Promise<number>;
  readonly onFault: (reason: unknown) => void;
}

/** Longest time between two rounds: the clock may be set. */
const ROUND_MS_MAX = 60_000;

export class Rounds {
  readonly #parts: RoundParts;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isStarted = false;
  #woken = Promise.withResolvers<void>();
  /** Something may have been queued since the round began. */
  #isPoked = false;

  constructor(parts: RoundParts) {
    this.#parts = parts;
  }

  /** Starts the automatic rounds. */
  start(): void {
    this.#isStarted = true;
    this.poke();
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    clearTimeout(this.#timer);
    this.#stop.abort();
    await this.#running;
  }

  /** Schedules a round soon: something may have been queued. */
  poke(waitMs = 0): void {
    if (!this.#isStarted) return;
    clearTimeout(this.#timer);
    const run = (): void => {
      if (this.#running !== undefined) {
        this.#isPoked = true;
        this.#woken.resolve();
        return;
      }
      this.#isPoked = false;
      this.runRound().then(
        (next) => this.poke(Math.min(ROUND_MS_MAX, Math.max(0, next - this.#parts.clock()))),
        (error: unknown) => {
          this.#parts.onFault(error);
          this.poke(ROUND_MS_MAX);
        },
      );
    };
    this.#timer = setTimeout(run, this.#isPoked ? 0 : waitMs).unref();
  }

  /** Runs one round; returns when the next item is due, infinity for never. */
  async runRound(): Promise<number> {
    while (this.#running !== undefined) await this.#running;
    let next = Infinity;
    this.#running = this.#parts
      .round(this.#stop.signal, () => this.#nextPoke())
      .then((time) => {
        next = time;
      })
      .finally(() => {
        this.#running = undefined;
        if (this.#isPoked) this.poke();
      });
    await this.#running;
    return next;
  }

  /** Resolves at the next poke while a round runs. */
  #nextPoke(): Promise<void> {
    this.#woken = Promise.withResolvers<void>();
    return this.#woken.promise;
  }
}
