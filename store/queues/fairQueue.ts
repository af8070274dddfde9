// Queues items by account: accounts take turns, so that one with many items does not delay the others.

export class FairQueue<Item> {
  /** Lines by account in the order of turns; none is empty. */
  readonly #lines = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(account: string): number {
    return this.#lines.get(account)?.length ?? 0;
  }

  /** Number of accounts with waiting items. */
  get accounts(): number {
    return this.#lines.size;
  }

  /** Returns the account with the longest line. */
  longest(): string | undefined {
    let [longest, size]: [string | undefined, number] = [undefined, 0];
    for (const [account, line] of this.#lines) {
      if (line.length > size) [longest, size] = [account, line.length];
    }
    return longest;
  }

  /** Removes and returns the last item of an account. */
  takeLast(account: string): Item | undefined {
    const line = this.#lines.get(account);
    const item = line?.pop();
    if (item === undefined) return undefined;
    if (line?.length === 0) this.#lines.delete(account);
    this.#size -= 1;
    return item;
  }

  push(account: string, item: Item): void {
    const line = this.#lines.get(account);
    if (line === undefined) this.#lines.set(account, [item]);
    else line.push(item);
    this.#size += 1;
  }

  /** Removes the first eligible item in the order of turns; its account moves to the end. */
  take(isEligible: (item: Item, account: string) => boolean): Item | undefined {
    for (const [account, line] of this.#lines) {
      const at = line.findIndex((item) => isEligible(item, account));
      if (at < 0) continue;
      const [item] = line.splice(at, 1);
      this.#lines.delete(account);
      if (line.length > 0) this.#lines.set(account, line);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }

  /** Counts the items that match, of one account or of all. */
  count(matches: (item: Item) => boolean, account?: string): number {
    const lines = account === undefined ? this.#lines.values() : [this.#lines.get(account) ?? []];
    let count = 0;
    for (const line of lines) for (const item of line) if (matches(item)) count += 1;
    return count;
  }

  some(matches: (item: Item) => boolean): boolean {
    return [...this.#lines.values()].some((line) => line.some(matches));
  }

  /** Removes the first item that matches; false when none does. */
  remove(matches: (item: Item) => boolean): boolean {
    for (const [account, line] of this.#lines) {
      const at = line.findIndex(matches);
      if (at < 0) continue;
      line.splice(at, 1);
      if (line.length === 0) this.#lines.delete(account);
      this.#size -= 1;
      return true;
    }
    return false;
  }
}
