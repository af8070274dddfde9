// The times of the stages of a request: admit, parse, plan, hold, run, settle. Each begins at the end of the
// previous one.
import { monotonicMs } from '../../store/base/clock.ts';

type Stage = 'admit' | 'parse' | 'plan' | 'hold' | 'run' | 'settle';

/** Most stages of one request: a batch holds and runs once for each of its types. */
const STAGES_MAX = 24;

/** A read from memory takes 0.04 ms; the header would add 2 µs. */
const SHOWN_FROM_MS = 1;

export class StageTimes {
  readonly #beganMs: number;
  #lastMs: number;
  readonly #times: (readonly [stage: Stage, ms: number])[] = [];

  constructor(beganMs = monotonicMs()) {
    this.#beganMs = beganMs;
    this.#lastMs = beganMs;
  }

  /** Ends a stage. */
  mark(stage: Stage): void {
    const nowMs = monotonicMs();
    if (this.#times.length < STAGES_MAX) this.#times.push([stage, nowMs - this.#lastMs]);
    this.#lastMs = nowMs;
  }

  /** As a header `Server-Timing`, in milliseconds; undefined for a request that took less than one. */
  header(): string | undefined {
    if (this.#lastMs - this.#beganMs < SHOWN_FROM_MS) return undefined;
    return this.#times
      .map(([stage, ms]) => `${stage};dur=${Math.round(ms * 100) / 100}`)
      .join(', ');
  }
}
