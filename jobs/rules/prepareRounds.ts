// Counts the rounds in which a group of rules reads what is wanted. A reader waits for the round with what
// was wanted when it came: waiting until nothing is wanted would never end while changes keep arriving.
export class PrepareRounds {
  #running: PromiseWithResolvers<void> | undefined;
  #next: PromiseWithResolvers<void> | undefined;

  /** Takes all that is wanted so far into a round; call the result at its end. */
  begin(): () => void {
    const round = this.#next ?? Promise.withResolvers<void>();
    this.#next = undefined;
    this.#running = round;
    return () => {
      this.#running = undefined;
      round.resolve();
    };
  }

  /** @param isWanted whether anything waits for a round of its own */
  async past(isWanted: boolean): Promise<void> {
    if (isWanted) this.#next ??= Promise.withResolvers<void>();
    await (isWanted ? this.#next : this.#running)?.promise;
  }
}
