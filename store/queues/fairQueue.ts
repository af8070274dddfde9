// What waits, by account: whoever has much waiting lets the others in between.

export class FairQueue<Item> {
  /** In the order in which accounts have their turn; none of them empty. */
  readonly #lines = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(account: string): number {
    return this.#lines.get(account)?.length ?? 0;
  }

  /** Accounts that have something waiting. */
  get accounts(): number {
    return this.#lines.size;
  }

  /** The account that has most waiting. */
  longest(): string | undefined {
    let [longest, size]: [string | undefined, number] = [undefined, 0];
    for (const [account, line] of this.#lines) {
      if (line.length > size) [longest, size] = [account, line.length];
    }
    return longest;
  }

  /** Takes out what an account has waiting last. */
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

  /** Takes the first item that may go, of the first account that has one: its next turn is the last. */
  take(mayGo: (item: Item, account: string) => boolean): Item | undefined {
    for (const [account, line] of this.#lines) {
      const at = line.findIndex((item) => mayGo(item, account));
      if (at < 0) continue;
      const [item] = line.splice(at, 1);
      this.#lines.delete(account);
      if (line.length > 0) this.#lines.set(account, line);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }

  some(wanted: (item: Item) => boolean): boolean {
    return [...this.#lines.values()].some((line) => line.some(wanted));
  }

  /** Takes an item out that is not to wait any more; false when none is `wanted`. */
  remove(wanted: (item: Item) => boolean): boolean {
    for (const [account, line] of this.#lines) {
      const at = line.findIndex(wanted);
      if (at < 0) continue;
      line.splice(at, 1);
      if (line.length === 0) this.#lines.delete(account);
      this.#size -= 1;
      return true;
    }
    return false;
  }
}
