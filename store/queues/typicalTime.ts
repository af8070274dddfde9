// Averages the time of one kind of work on a logarithmic scale. With a mean, one slow item would refuse a
// hundred quick ones.

/** Weight of the latest time in the average. */
const LAST_WEIGHT = 0.1;
const LEAST_MS = 0.1;

export class TypicalTime {
  #logMs: number | undefined;

  /** Records the time of one item. */
  add(ms: number): void {
    const last = Math.log(Math.max(LEAST_MS, ms));
    this.#logMs = (this.#logMs ?? last) * (1 - LAST_WEIGHT) + last * LAST_WEIGHT;
  }

  /** 0 before the first item. */
  get ms(): number {
    return this.#logMs === undefined ? 0 : Math.exp(this.#logMs);
  }
}
