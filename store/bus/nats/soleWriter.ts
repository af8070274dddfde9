// A log is written by one process, the one that serves. One that lost its place without knowing it, since it
// slept, must add nothing behind what the next one wrote: a reader would hear it twice.

/** Who finds that another one wrote writes nothing for so long: by then it knows whether it serves. */
const FENCED_MS = 5_000;

export class SoleWriter {
  readonly #clockMs: () => number;
  #tag: string | undefined;
  /** The newest sequence that is known. */
  #last = 0;
  /** Own messages of which nobody knows whether they were kept. */
  #unknown = 0;
  #onTheirWay = 0;
  #fencedUntilMs = -Infinity;

  readonly #fenceMs: number;

  /** @param clockMs never goes back */
  constructor(clockMs: () => number, fenceMs = FENCED_MS) {
    this.#clockMs = clockMs;
    this.#fenceMs = fenceMs;
  }

  /** The log was asked what it has. @param tag tells it from another one of its name */
  found(tag: string, last: number): void {
    const most = this.#last + this.#unknown + this.#onTheirWay;
    if (tag === this.#tag && last > most) this.overtaken();
    [this.#tag, this.#last, this.#unknown] = [tag, last, 0];
  }

  /** The sequence that the next message comes behind; undefined: it is not to be written. */
  begin(): number | undefined {
    if (this.#clockMs() < this.#fencedUntilMs) return undefined;
    this.#onTheirWay += 1;
    return this.#last + this.#onTheirWay - 1;
  }

  kept(sequence: number): void {
    this.#onTheirWay -= 1;
    this.#last = Math.max(this.#last, sequence);
  }

  /** It may have been kept or not. */
  lost(): void {
    this.#onTheirWay -= 1;
    this.#unknown += 1;
  }

  /** It was refused: another one was kept in its place. */
  refused(): void {
    this.#onTheirWay -= 1;
    this.overtaken();
  }

  /** How long it is to write nothing yet. */
  get fencedMs(): number {
    return Math.max(0, this.#fencedUntilMs - this.#clockMs());
  }

  overtaken(): void {
    this.#fencedUntilMs = this.#clockMs() + this.#fenceMs;
  }
}
