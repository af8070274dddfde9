// Pauses reads on other nodes while a change becomes visible on this node.

/**
 * Pauses reads on other nodes; undefined when no other node serves reads. Resolves once all are paused, with
 * the function that resumes them; they apply the messages received meanwhile before they answer again.
 * @param tableIds affected tables; all when undefined
 */
export type ReadBarrier = (tableIds?: readonly number[]) => Promise<() => void> | undefined;

/** Applies changes of one shared state that all tables depend on. */
export class BarrierChanges {
  #barrier: ReadBarrier = () => undefined;
  #changed: () => void = () => undefined;

  /** @param changed is called after each change, before other nodes answer again */
  configure(barrier: ReadBarrier, changed: () => void = () => undefined): void {
    this.#barrier = barrier;
    this.#changed = changed;
  }

  async apply(change: () => void | Promise<void>): Promise<void> {
    const resume = await this.#barrier();
    try {
      await change();
      this.#changed();
    } finally {
      resume?.();
    }
  }
}
