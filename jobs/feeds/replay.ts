// Ticks of the past played again: at the pace they had, faster, or as fast as they go; stopped, taken up at
// another time, or step by step. What they say of the market is on a board of their own.
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { LiveBoard } from '../../market/live/liveBoard.ts';
import type { Tick, TickReader } from '../../market/live/tick.ts';

/** How often ticks are told. */
const STEP_MS = 20;
/** Ticks of one turn of the loop; as fast as it goes 200 books of 100 prices a side are 2 MB. */
const TURN_TICKS = 1_000;
const MAX_TURN_TICKS = 200;
/** How often it is looked whether readers can take more; how long one that takes nothing is waited for. */
const ROOM_STEP_MS = 2;
const ROOM_MS = 10_000;

export type Speed = number | 'max';

interface Told {
  readonly board: LiveBoard;
  /** Bytes that wait for readers who can't take more: 0 when all of them can. */
  readonly behind: () => number;
}

interface ReplayState {
  readonly state: 'playing' | 'paused' | 'seeking' | 'ended';
  readonly speed: Speed;
  /** Where it is in the time that it plays, epoch milliseconds. */
  readonly atMs: number;
  readonly told: number;
  /** Why it paused by itself. */
  readonly fault: string | undefined;
}

export class Replay {
  readonly #begin: () => TickReader;
  readonly #board: LiveBoard;
  readonly #behind: () => number;
  #reader: TickReader;
  /** What was read and is not told yet begins at `#next`. */
  #ticks: readonly Tick[] = [];
  #next = 0;
  #told = 0;
  #speed: Speed;
  #atMs = 0;
  /** When `#atMs` was true. */
  #sinceMs = 0;
  #isEnded = false;
  #isSeeking = false;
  #playing: AbortController | undefined;
  #fault: string | undefined;
  /** One turn at a time. */
  #turn: Promise<unknown> = Promise.resolve();

  /** @param begin a reader from the first tick on */
  constructor(begin: () => TickReader, { behind, board }: Told, speed: Speed) {
    this.#begin = begin;
    this.#reader = begin();
    this.#board = board;
    this.#behind = behind;
    this.#speed = speed;
  }

  /** Stands before the first tick. @returns whether there is one. @throws what the reader throws. */
  async open(): Promise<boolean> {
    const first = await this.#head();
    this.#atMs = first?.timeMs ?? 0;
    return first !== undefined;
  }

  state(): ReplayState {
    const [speed, told, fault] = [this.#speed, this.#told, this.#fault];
    return { state: this.#doing(), speed, atMs: Math.floor(this.#atMs), told, fault };
  }

  #doing(): ReplayState['state'] {
    if (this.#isSeeking) return 'seeking';
    if (this.#isEnded) return 'ended';
    return this.#playing === undefined ? 'paused' : 'playing';
  }

  play(): void {
    if (this.#playing !== undefined || this.#isEnded) return;
    this.#fault = undefined;
    this.#sinceMs = monotonicMs();
    this.#playing = new AbortController();
    void this.#play(this.#playing);
  }

  pause(): void {
    this.#playing?.abort();
    this.#playing = undefined;
  }

  close(): void {
    this.pause();
    this.#reader.close();
  }

  setSpeed(speed: Speed): void {
    this.#speed = speed;
    this.#sinceMs = monotonicMs();
  }

  /**
   * Everything before a time is known, and no news.
   * @throws Failure Busy while it seeks already; what the reader throws.
   */
  async seek(ms: number): Promise<void> {
    if (this.#isSeeking) throw new Failure('Busy', 'the replay is on its way to another time');
    this.#isSeeking = true;
    this.#fault = undefined;
    try {
      await this.#alone(() => this.#goTo(ms));
    } finally {
      this.#isSeeking = false;
    }
  }

  /** The next ticks alone, however long they are away. @throws what the reader throws. */
  async step(count: number): Promise<void> {
    this.pause();
    await this.#alone(async () => {
      for (let left = count; left > 0; left -= 1) {
        const tick = await this.#head();
        if (tick === undefined) return;
        this.#tell(tick);
        if (left % MAX_TURN_TICKS === 0) await this.#room();
      }
      await this.#head();
    });
  }

  async #goTo(ms: number): Promise<void> {
    if (ms < this.#atMs) {
      this.#reader.close();
      this.#reader = this.#begin();
      [this.#ticks, this.#next, this.#told, this.#isEnded] = [[], 0, 0, false];
      this.#board.clear();
    }
    while ((await this.#head()) !== undefined) {
      const place = this.#ticks.findIndex(({ timeMs }, at) => at >= this.#next && timeMs >= ms);
      const end = place < 0 ? this.#ticks.length : place;
      this.#board.catchUp(this.#ticks.slice(this.#next, end));
      this.#told += end - this.#next;
      this.#next = end;
      if (place >= 0) break;
      await sleep(0);
    }
    this.#atMs = ms;
    this.#sinceMs = monotonicMs();
  }

  async #play(playing: AbortController): Promise<void> {
    const { signal } = playing;
    try {
      while (!signal.aborted && !this.#isEnded) {
        await this.#alone(() => this.#advance(signal));
        if (this.#speed === 'max') await this.#room(signal);
        else await sleep(STEP_MS, undefined, { ref: false });
      }
    } catch {
      // Its state tells why.
    }
    if (this.#playing === playing) this.#playing = undefined;
  }

  /** Until readers can take more, or take nothing any more: their streams end with what comes next. */
  async #room(signal?: AbortSignal): Promise<void> {
    let [before, sinceMs] = [0, monotonicMs()];
    await sleep(0);
    for (;;) {
      const bytes = this.#behind();
      if (bytes === 0 || signal?.aborted === true) return;
      const nowMs = monotonicMs();
      if (bytes !== before) [before, sinceMs] = [bytes, nowMs];
      else if (nowMs - sinceMs >= ROOM_MS) return;
      await sleep(ROOM_STEP_MS, undefined, { ref: false });
    }
  }

  async #advance(signal: AbortSignal): Promise<void> {
    const turn = this.#speed === 'max' ? MAX_TURN_TICKS : TURN_TICKS;
    for (let left = turn; left > 0; left -= 1) {
      const tick = await this.#head();
      // It may have been stopped, or told to go at another pace, while that was read.
      if (tick === undefined || signal.aborted) return;
      const nowMs = monotonicMs();
      const passedMs = nowMs - this.#sinceMs;
      this.#sinceMs = nowMs;
      if (this.#speed !== 'max') {
        this.#atMs += passedMs * this.#speed;
        if (tick.timeMs > this.#atMs) return;
      }
      this.#tell(tick);
    }
  }

  #tell(tick: Tick): void {
    this.#next += 1;
    this.#told += 1;
    this.#atMs = Math.max(this.#atMs, tick.timeMs);
    this.#board.apply(tick);
  }

  /** The next tick; undefined at the end. */
  async #head(): Promise<Tick | undefined> {
    if (this.#isEnded) return undefined;
    if (this.#next >= this.#ticks.length) {
      this.#ticks = await this.#reader.next();
      this.#next = 0;
      this.#isEnded = this.#ticks.length === 0;
      // Whoever moves it from its end on finds it at rest, though readers may still be behind.
      if (this.#isEnded) this.pause();
    }
    return this.#ticks[this.#next];
  }

  async #alone(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch((error: unknown) => {
      this.#fault = reasonOf(error);
      this.pause();
    });
    await turn;
  }
}
