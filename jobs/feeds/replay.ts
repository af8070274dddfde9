// Ticks of the past played again: at the pace they had, faster, or as fast as they go; stopped, taken up at
// another time, or step by step. What they say of the market is on a board of their own.
import { monotonicMs } from '../../store/base/clock.ts';
import type { LiveBoard } from '../../market/live/liveBoard.ts';
import type { Tick } from '../../market/live/tick.ts';

/** How often ticks are told. */
const STEP_MS = 20;
/** Ticks of one turn of the loop. */
const TURN_TICKS = 1_000;

export type Speed = number | 'max';

interface ReplayState {
  readonly state: 'playing' | 'paused' | 'ended';
  readonly speed: Speed;
  /** Where it is in the time that it plays, epoch milliseconds. */
  readonly atMs: number;
  readonly told: number;
  readonly ticks: number;
}

export class Replay {
  readonly #ticks: readonly Tick[];
  readonly #board: LiveBoard;
  #speed: Speed;
  #next = 0;
  #atMs: number;
  /** When `#atMs` was true. */
  #sinceMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param ticks in the order of their times, at least one */
  constructor(ticks: readonly Tick[], board: LiveBoard, speed: Speed) {
    this.#ticks = ticks;
    this.#board = board;
    this.#speed = speed;
    this.#atMs = ticks[0]?.timeMs ?? 0;
  }

  state(): ReplayState {
    const isEnded = this.#next >= this.#ticks.length;
    return {
      state: isEnded ? 'ended' : this.#timer === undefined ? 'paused' : 'playing',
      speed: this.#speed,
      atMs: Math.floor(this.#atMs),
      told: this.#next,
      ticks: this.#ticks.length,
    };
  }

  play(): void {
    if (this.#timer !== undefined || this.#next >= this.#ticks.length) return;
    this.#sinceMs = monotonicMs();
    this.#arm();
  }

  pause(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  setSpeed(speed: Speed): void {
    this.#speed = speed;
    this.#sinceMs = monotonicMs();
  }

  /** Everything before a time is known, and no news. */
  seek(ms: number): void {
    this.#board.clear();
    const place = this.#ticks.findIndex(({ timeMs }) => timeMs >= ms);
    this.#next = place < 0 ? this.#ticks.length : place;
    this.#board.catchUp(this.#ticks.slice(0, this.#next));
    this.#atMs = ms;
    this.#sinceMs = monotonicMs();
  }

  /** The next ticks alone, however long they are away. */
  step(count: number): void {
    this.pause();
    for (let left = count; left > 0 && this.#next < this.#ticks.length; left -= 1) this.#tell();
  }

  #arm(): void {
    const turn = (): void => {
      this.#timer = undefined;
      this.#advance();
      if (this.#next < this.#ticks.length) this.#arm();
    };
    this.#timer = setTimeout(turn, this.#speed === 'max' ? 0 : STEP_MS).unref();
  }

  #advance(): void {
    const nowMs = monotonicMs();
    const untilMs =
      this.#speed === 'max'
        ? Number.POSITIVE_INFINITY
        : this.#atMs + (nowMs - this.#sinceMs) * this.#speed;
    this.#sinceMs = nowMs;
    for (let left = TURN_TICKS; left > 0; left -= 1) {
      const tick = this.#ticks[this.#next];
      if (tick === undefined || tick.timeMs > untilMs) {
        if (Number.isFinite(untilMs)) this.#atMs = untilMs;
        return;
      }
      this.#tell();
    }
  }

  #tell(): void {
    const tick = this.#ticks[this.#next];
    if (tick === undefined) return;
    this.#next += 1;
    this.#atMs = Math.max(this.#atMs, tick.timeMs);
    this.#board.apply(tick);
  }
}
