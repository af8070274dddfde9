// Rounds in which a group of rules reads requested values. A reader waits only for the round of requests up
// to its call: waiting until none is left would never end while changes keep arriving.
export class PrepareRounds {
  #running: PromiseWithResolvers<void> | undefined;
  #next: PromiseWithResolvers<void> | undefined;

  /** Starts a round of all requests so far; call the result at its end. */
  begin(): () => void {
    const round = this.#next ?? Promise.withResolvers<void>();
    this.#next = undefined;
    this.#running = round;
    return () => {
      this.#running = undefined;
      round.resolve();
    };
  }

  /** @param isWanted whether any request waits for a round of its own */
  async past(isWanted: boolean): Promise<void> {
    if (isWanted) this.#next ??= Promise.withResolvers<void>();
    await (isWanted ? this.#next : this.#running)?.promise;
  }
}
