// Queues of turns of datasets and of fetching jobs; in both accounts take turns.
import { FairQueue } from '../../store/queues/fairQueue.ts';
import { Failure } from '../../store/base/failure.ts';
import type { FetchOrder } from './order.ts';

/** Jobs that may wait; the next one is refused, with its body. */
const WAITING_MAX = 10_000;
/** Waiting jobs of one account. */
const ACCOUNT_WAITING_MAX = 2_000;

/** Work that waits for its dataset's turn. */
export interface Waiting {
  readonly account: string;
  readonly turn: string;
  readonly workspace: string;
  readonly dataset: string;
  /** Undefined for work that is no job. */
  readonly jobId: string | undefined;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** A fetching job that waits for its start. */
export interface WaitingFetch {
  readonly account: string;
  readonly jobId: string;
  readonly order: FetchOrder;
  readonly logged: Promise<void> | undefined;
}

type Named = Pick<Waiting, 'jobId' | 'account'>;

/** Running work of an account. */
export interface Begun {
  readonly account: string;
  readonly ended: Promise<void>;
}

export class WaitingJobs {
  readonly #turns = new FairQueue<Waiting>();
  readonly #fetches = new FairQueue<WaitingFetch>();

  get size(): number {
    return this.#turns.size + this.#fetches.size;
  }

  /** @throws Failure Busy when too many wait. */
  checkLength(account: string): void {
    const own = this.#turns.sizeOf(account) + this.#fetches.sizeOf(account);
    if (own >= ACCOUNT_WAITING_MAX) {
      throw new Failure('Busy', `${own} jobs of this account are waiting: try again later`);
    }
    if (this.size >= WAITING_MAX) {
      throw new Failure('Busy', `${this.size} jobs are waiting already: try again later`);
    }
  }

  push(item: Waiting): void {
    this.#turns.push(item.account, item);
  }

  pushFetch(item: WaitingFetch): void {
    this.#fetches.push(item.account, item);
  }

  /** Whether the job waits. */
  has(jobId: string): boolean {
    const matches = (item: Named): boolean => item.jobId === jobId;
    return this.#turns.some(matches) || this.#fetches.some(matches);
  }

  /** Removes a job; false when it does not wait. */
  removeJob(jobId: string): boolean {
    const matches = (item: Named): boolean => item.jobId === jobId;
    return this.#turns.remove(matches) || this.#fetches.remove(matches);
  }

  remove(item: Waiting): boolean {
    return this.#turns.remove((waiting) => waiting === item);
  }

  /**
   * Takes the next one whose dataset is free; if the first one of a dataset may not start, no later one does.
   * @param begun running work, by its turn; at most `most` of one account
   */
  takeTurn(
    begun: ReadonlyMap<string, Begun>,
    most: number,
    canStart: (jobId: string | undefined) => boolean,
  ): Waiting | undefined {
    const busyTurns = new Set(begun.keys());
    return this.#turns.take(({ account, jobId, turn }) => {
      if (busyTurns.has(turn)) return false;
      busyTurns.add(turn);
      return canStart(jobId) && countRunning(begun, account) < most;
    });
  }

  takeFetch(
    begun: ReadonlyMap<string, Begun>,
    most: number,
    canStart: (jobId: string) => boolean,
  ): WaitingFetch | undefined {
    return this.#fetches.take(
      ({ account, jobId }) => canStart(jobId) && countRunning(begun, account) < most,
    );
  }
}

const countRunning = (begun: ReadonlyMap<string, Begun>, account: string): number =>
  [...begun.values()].filter((one) => one.account === account).length;
