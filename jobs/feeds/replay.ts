// Replays past ticks: at their pace, faster, or as fast as possible; it can be paused, moved to another time,
// or advanced step by step. It has its own board.
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../store/base/clock.ts';
import { Failure, reasonOf } from '../../store/base/failure.ts';
import type { LiveBoard } from '../../market/live/liveBoard.ts';
import type { Tick, TickReader } from '../../market/live/tick.ts';

/** Interval between two batches of ticks. */
const STEP_MS = 20;
/** Ticks of one turn of the event loop; at full speed 200 books of 100 prices a side are 2 MB. */
const TURN_TICKS = 1_000;
const MAX_TURN_TICKS = 200;
/** Interval between two checks of the readers' backlog; longest wait for a reader without progress. */
const BACKLOG_POLL_MS = 2;
const BACKLOG_TIMEOUT_MS = 10_000;

export type Speed = number | 'max';

interface ReplayOutput {
  readonly board: LiveBoard;
  /** Bytes that wait for slow readers: 0 when all of them keep up. */
  readonly behind: () => number;
}

interface ReplayState {
  readonly state: 'playing' | 'paused' | 'seeking' | 'ended';
  readonly speed: Speed;
  /** Position in the replayed time, epoch milliseconds. */
  readonly atMs: number;
  readonly told: number;
  /** Why it paused automatically. */
  readonly fault: string | undefined;
}

export class Replay {
  readonly #begin: () => TickReader;
  readonly #board: LiveBoard;
  readonly #behind: () => number;
  #reader: TickReader;
  /** Ticks that were read; those from `#next` on are not sent yet. */
  #ticks: readonly Tick[] = [];
  #next = 0;
  #sent = 0;
  #speed: Speed;
  #atMs = 0;
  /** Monotonic time of the last update of `#atMs`. */
  #sinceMs = 0;
  #isEnded = false;
  #isSeeking = false;
  #playing: AbortController | undefined;
  #fault: string | undefined;
  /** Serializes turns. */
  #turn: Promise<unknown> = Promise.resolve();

  /** @param begin opens a reader at the first tick */
  constructor(begin: () => TickReader, { behind, board }: ReplayOutput, speed: Speed) {
    this.#begin = begin;
    this.#reader = begin();
    this.#board = board;
    this.#behind = behind;
    this.#speed = speed;
  }

  /** Moves to the first tick. @returns whether there is one. @throws what the reader throws. */
  async open(): Promise<boolean> {
    const first = await this.#peek();
    this.#atMs = first?.timeMs ?? 0;
    return first !== undefined;
  }

  state(): ReplayState {
    const [speed, sent, fault] = [this.#speed, this.#sent, this.#fault];
    return { state: this.#currentState(), speed, atMs: Math.floor(this.#atMs), told: sent, fault };
  }

  #currentState(): ReplayState['state'] {
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
   * Moves to a time; earlier ticks update the board, but are not sent as new.
   * @throws Failure Busy while it seeks already; what the reader throws.
   */
  async seek(ms: number): Promise<void> {
    if (this.#isSeeking) throw new Failure('Busy', 'the replay is already seeking another time');
    this.#isSeeking = true;
    this.#fault = undefined;
    try {
      await this.#serialize(() => this.#goTo(ms));
    } finally {
      this.#isSeeking = false;
    }
  }

  /** Sends the next ticks only, without waiting for their times. @throws what the reader throws. */
  async step(count: number): Promise<void> {
    this.pause();
    await this.#serialize(async () => {
      for (let left = count; left > 0; left -= 1) {
        const tick = await this.#peek();
        if (tick === undefined) return;
        this.#send(tick);
        if (left % MAX_TURN_TICKS === 0) await this.#waitForReaders();
      }
      await this.#peek();
    });
  }

  async #goTo(ms: number): Promise<void> {
    if (ms < this.#atMs) {
      this.#reader.close();
      this.#reader = this.#begin();
      [this.#ticks, this.#next, this.#sent, this.#isEnded] = [[], 0, 0, false];
      this.#board.clear();
    }
    while ((await this.#peek()) !== undefined) {
      const place = this.#ticks.findIndex(({ timeMs }, at) => at >= this.#next && timeMs >= ms);
      const end = place < 0 ? this.#ticks.length : place;
      this.#board.catchUp(this.#ticks.slice(this.#next, end));
      this.#sent += end - this.#next;
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
        await this.#serialize(() => this.#advance(signal));
        if (this.#speed === 'max') await this.#waitForReaders(signal);
        else await sleep(STEP_MS, undefined, { ref: false });
      }
    } catch {
      // The state contains the fault.
    }
    if (this.#playing === playing) this.#playing = undefined;
  }

  /** Waits until readers keep up, or make no progress: their streams end with the next message. */
  async #waitForReaders(signal?: AbortSignal): Promise<void> {
    let [before, sinceMs] = [0, monotonicMs()];
    await sleep(0);
    for (;;) {
      const bytes = this.#behind();
      if (bytes === 0 || signal?.aborted === true) return;
      const nowMs = monotonicMs();
      if (bytes !== before) [before, sinceMs] = [bytes, nowMs];
      else if (nowMs - sinceMs >= BACKLOG_TIMEOUT_MS) return;
      await sleep(BACKLOG_POLL_MS, undefined, { ref: false });
    }
  }

  async #advance(signal: AbortSignal): Promise<void> {
    const turn = this.#speed === 'max' ? MAX_TURN_TICKS : TURN_TICKS;
    for (let left = turn; left > 0; left -= 1) {
      const tick = await this.#peek();
      // It may have been paused, or its speed changed, during the read.
      if (tick === undefined || signal.aborted) return;
      const nowMs = monotonicMs();
      const passedMs = nowMs - this.#sinceMs;
      this.#sinceMs = nowMs;
      if (this.#speed !== 'max') {
        this.#atMs += passedMs * this.#speed;
        if (tick.timeMs > this.#atMs) return;
      }
      this.#send(tick);
    }
  }

  #send(tick: Tick): void {
    this.#next += 1;
    this.#sent += 1;
    this.#atMs = Math.max(this.#atMs, tick.timeMs);
    this.#board.apply(tick);
  }

  /** The next tick; undefined at the end. */
  async #peek(): Promise<Tick | undefined> {
    if (this.#isEnded) return undefined;
    if (this.#next >= this.#ticks.length) {
      this.#ticks = await this.#reader.next();
      this.#next = 0;
      this.#isEnded = this.#ticks.length === 0;
      // A seek after the end finds it paused, though readers may still be behind.
      if (this.#isEnded) this.pause();
    }
    return this.#ticks[this.#next];
  }

  async #serialize(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch((error: unknown) => {
      this.#fault = reasonOf(error);
      this.pause();
    });
    await turn;
  }
}
