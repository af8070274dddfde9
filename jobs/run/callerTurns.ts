// Queue of callers for a dataset's turn, bounded by its expected wait: a caller who would be answered too
// late is refused before its body is stored, and one who disconnected is skipped.
import { Failure } from '../../store/base/failure.ts';
import { monotonicMs } from '../../store/base/clock.ts';
import { callerGone } from '../../store/queues/timedQueue.ts';
import { TypicalTime } from '../../store/queues/typicalTime.ts';

/** Most clients time out after 30 to 60 seconds. */
const WAIT_MS_MAX = 20_000;
/** Callers that wait for one dataset. */
const WAITING_MAX = 1_000;

type InTurn = <T>(
  workspace: string,
  dataset: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>;

export class CallerTurns {
  readonly #inTurn: InTurn;
  /** By dataset. */
  readonly #waiting = new Map<string, number>();
  readonly #typical = new TypicalTime();

  constructor(inTurn: InTurn) {
    this.#inTurn = inTurn;
  }

  /** @throws Failure Busy, with the time after which to retry, when too many wait for the dataset. */
  check(workspace: string, dataset: string): void {
    const ahead = this.#waiting.get(lineName(workspace, dataset)) ?? 0;
    const expectedMs = ahead * this.#typical.ms;
    if (ahead < WAITING_MAX && expectedMs <= WAIT_MS_MAX) return;
    const detail = `${ahead} writes of dataset ${dataset} are waiting: try again later`;
    throw new Failure('Busy', detail, Math.max(1_000, expectedMs / 2));
  }

  /**
   * Runs work of a caller when the dataset's turn comes.
   * @param departure is aborted when the caller disconnects
   * @throws Failure Busy as `check` does; TimedOut when the caller disconnected before its turn.
   */
  async run<T>(
    workspace: string,
    dataset: string,
    work: () => Promise<T>,
    departure: AbortSignal,
  ): Promise<T> {
    this.check(workspace, dataset);
    const line = lineName(workspace, dataset);
    this.#waiting.set(line, (this.#waiting.get(line) ?? 0) + 1);
    try {
      return await this.#inTurn(workspace, dataset, () => this.#timed(work), departure);
    } catch (error) {
      throw departure.aborted && error === departure.reason ? callerGone() : error;
    } finally {
      const left = (this.#waiting.get(line) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(line);
      else this.#waiting.set(line, left);
    }
  }

  async #timed<T>(work: () => Promise<T>): Promise<T> {
    const beganMs = monotonicMs();
    try {
      return await work();
    } finally {
      this.#typical.add(monotonicMs() - beganMs);
    }
  }
}

const lineName = (workspace: string, dataset: string): string =>
  `${workspace}.${dataset}`.toUpperCase();
