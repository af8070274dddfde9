// What is about to be seen by readers here, while nobody else answers by what was there before.

/**
 * Undefined: nobody else answers. Else it resolves once nobody does; they do so again, by what they heard
 * meanwhile, after what it resolves with was called.
 * @param tableIds it concerns only these tables; all when undefined
 */
export type Quiet = (tableIds?: readonly number[]) => Promise<() => void> | undefined;

/** Changes that concern all, one memory's. */
export class QuietChanges {
  #quiet: Quiet = () => undefined;
  #changed: () => void = () => undefined;

  /** @param changed is told after each change, before others answer again */
  whileQuiet(quiet: Quiet, changed: () => void = () => undefined): void {
    this.#quiet = quiet;
    this.#changed = changed;
  }

  async show(change: () => void | Promise<void>): Promise<void> {
    const resume = await this.#quiet();
    try {
      await change();
      this.#changed();
    } finally {
      resume?.();
    }
  }
}
