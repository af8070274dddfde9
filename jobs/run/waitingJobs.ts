// What waits until it may begin: turns of datasets, and jobs that fetch; in both accounts take turns.
import { FairQueue } from '../../store/queues/fairQueue.ts';
import { Failure } from '../../store/base/failure.ts';
import type { FetchOrder } from './order.ts';

/** Jobs that may wait; one more is refused, and its body with it. */
const WAITING_MAX = 10_000;
/** Those of one account. */
const ACCOUNT_WAITING_MAX = 2_000;

/** Something that waits for its dataset's turn. */
export interface Waiting {
  readonly account: string;
  readonly turn: string;
  readonly workspace: string;
  readonly dataset: string;
  /** Undefined for work that is no job. */
  readonly jobId: string | undefined;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** A fetching job that waits until it may begin. */
export interface WaitingFetch {
  readonly account: string;
  readonly jobId: string;
  readonly order: FetchOrder;
  readonly told: Promise<void> | undefined;
}

type Named = Pick<Waiting, 'jobId' | 'account'>;

/** What runs, and for whom. */
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

  /** True while the job waits. */
  has(jobId: string): boolean {
    const isIt = (item: Named): boolean => item.jobId === jobId;
    return this.#turns.some(isIt) || this.#fetches.some(isIt);
  }

  /** Takes a job out; false when it does not wait. */
  removeJob(jobId: string): boolean {
    const isIt = (item: Named): boolean => item.jobId === jobId;
    return this.#turns.remove(isIt) || this.#fetches.remove(isIt);
  }

  remove(item: Waiting): boolean {
    return this.#turns.remove((waiting) => waiting === item);
  }

  /**
   * The next one whose dataset is free; of a dataset whose first may not go, no later one goes.
   * @param begun what runs, by its turn; at most `most` of one account
   */
  takeTurn(
    begun: ReadonlyMap<string, Begun>,
    most: number,
    mayGo: (jobId: string | undefined) => boolean,
  ): Waiting | undefined {
    const held = new Set(begun.keys());
    return this.#turns.take(({ account, jobId, turn }) => {
      if (held.has(turn)) return false;
      held.add(turn);
      return mayGo(jobId) && countOf(begun, account) < most;
    });
  }

  takeFetch(
    begun: ReadonlyMap<string, Begun>,
    most: number,
    mayGo: (jobId: string) => boolean,
  ): WaitingFetch | undefined {
    return this.#fetches.take(
      ({ account, jobId }) => mayGo(jobId) && countOf(begun, account) < most,
    );
  }
}

const countOf = (begun: ReadonlyMap<string, Begun>, account: string): number =>
  [...begun.values()].filter((one) => one.account === account).length;
