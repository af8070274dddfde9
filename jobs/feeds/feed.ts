// A feed sends ticks while it is needed. It starts with its first listener, is restarted with a backoff when
// it fails, and reports its state.
import { reasonOf, SERVER_STOPPING } from '../../store/base/failure.ts';

/** Callbacks of a feed. */
export interface Playing {
  readonly signal: AbortSignal;
  readonly onTicks: (count: number) => void;
  /** Everything earlier was sent: later ticks are new. */
  readonly onReady: () => void;
}

/** Plays until the signal ends it; an earlier return is a failure like any other. */
export type Play = (playing: Playing) => Promise<void>;

interface FeedParts {
  readonly name: string;
  readonly play: Play;
  readonly onFault: (reason: unknown) => void;
}

interface FeedState {
  readonly name: string;
  readonly isRunning: boolean;
  readonly ticks: number;
  readonly restarts: number;
  readonly fault: string | undefined;
}

/** Delay before a restart, doubled with each consecutive failure. */
const BACKOFF_MS = 1_000;
const BACKOFF_MOST_MS = 60_000;

export class Feed {
  readonly #parts: FeedParts;
  readonly #abort = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;
  #ticks = 0;
  #restarts = 0;
  #fault: string | undefined;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** Starts the feed once; each call waits until it is ready. */
  async start(): Promise<void> {
    this.#running ??= this.#run();
    await this.#ready.promise;
  }

  async stop(): Promise<void> {
    this.#abort.abort(new Error(SERVER_STOPPING));
    this.#ready.resolve();
    await this.#running;
  }

  state(): FeedState {
    const isRunning = this.#running !== undefined && this.#fault === undefined;
    const { name } = this.#parts;
    return { name, isRunning, ticks: this.#ticks, restarts: this.#restarts, fault: this.#fault };
  }

  async #run(): Promise<void> {
    const { onFault, play } = this.#parts;
    const { signal } = this.#abort;
    let waitMs = BACKOFF_MS;
    while (!signal.aborted) {
      const before = this.#ticks;
      try {
        const onTicks = (count: number): void => {
          this.#ticks += count;
          this.#fault = undefined;
        };
        await play({ signal, onTicks, onReady: () => this.#ready.resolve() });
        if (!signal.aborted) throw new Error('the feed ended');
      } catch (error) {
        if (signal.aborted) return;
        this.#fault = reasonOf(error);
        this.#ready.resolve();
        onFault(error);
      }
      if (this.#ticks > before) waitMs = BACKOFF_MS;
      this.#restarts += 1;
      await pause(waitMs, signal);
      waitMs = Math.min(BACKOFF_MOST_MS, waitMs * 2);
    }
  }
}

/** Ends early when the signal does. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
