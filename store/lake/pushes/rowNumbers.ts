// Assigns record numbers in datasets without a unique index. A load reserves a block before it writes its
// file, and a push one number for each record, so that both may run concurrently and no number is used twice.

/** Numbers that a load reserves: its maximum number of records. */
export const LOAD_ROWS = 20_000_000;

export class RowNumbers {
  readonly #next = new Map<number, number>();

  /** Reserves `count` numbers and returns the first. @param least one more than the greatest stored number */
  reserve(tableId: number, least: number, count: number): number {
    const first = Math.max(least, this.#next.get(tableId) ?? 1);
    this.#next.set(tableId, first + count);
    return first;
  }
}
