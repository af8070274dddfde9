// Running jobs: their progress, how to abort them, and the waiters for their end.

interface LiveJob {
  readonly abort: AbortController;
  progress: number;
  /** Received from a source; 0 for an upload. */
  bytes: number;
}

export class LiveJobs {
  readonly #live = new Map<string, LiveJob>();
  readonly #waiters = new Map<string, (() => void)[]>();

  begin(jobId: string): AbortSignal {
    const abort = new AbortController();
    this.#live.set(jobId, { abort, progress: 0, bytes: 0 });
    return abort.signal;
  }

  /** Ids of running jobs. */
  ids(): readonly string[] {
    return [...this.#live.keys()];
  }

  /** 0 to 100; undefined for a job that does not run. */
  progressOf(jobId: string): number | undefined {
    return this.#live.get(jobId)?.progress;
  }

  progressed(jobId: string, percent: number): void {
    const job = this.#live.get(jobId);
    if (job !== undefined) job.progress = percent;
  }

  /** Bytes received from its source so far; undefined for a job that does not run. */
  bytesOf(jobId: string): number | undefined {
    return this.#live.get(jobId)?.bytes;
  }

  landed(jobId: string, bytes: number): void {
    const job = this.#live.get(jobId);
    if (job !== undefined) job.bytes = bytes;
  }

  /** False for a job that does not run. */
  abort(jobId: string, reason: unknown): boolean {
    const job = this.#live.get(jobId);
    job?.abort.abort(reason);
    return job !== undefined;
  }

  /** Resolves when `end` is called for it. */
  ended(jobId: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.set(jobId, [...(this.#waiters.get(jobId) ?? []), resolve]);
    });
  }

  end(jobId: string): void {
    this.#live.delete(jobId);
    for (const resolve of this.#waiters.get(jobId) ?? []) resolve();
    this.#waiters.delete(jobId);
  }
}
