// Numbers of records in datasets without a unique index. A load reserves a block before it writes its file,
// and a push one number a record, so that both may run at the same time and no number is given twice.

/** Numbers that a load reserves: as many as it may have records. */
export const LOAD_ROWS = 20_000_000;

export class RowNumbers {
  readonly #next = new Map<number, number>();

  /** The first of `count` numbers. @param least one more than the greatest that is stored */
  reserve(tableId: number, least: number, count: number): number {
    const first = Math.max(least, this.#next.get(tableId) ?? 1);
    this.#next.set(tableId, first + count);
    return first;
  }
}
