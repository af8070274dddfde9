// Event queue: a binary heap by time. Events at the same time keep their insertion order.

interface Entry<Item> {
  readonly ms: number;
  readonly entered: number;
  readonly item: Item;
}

export interface EventQueue<Item> {
  add(ms: number, item: Item): void;
  /** Removes and returns the earliest item. */
  next(): { readonly ms: number; readonly item: Item } | undefined;
}

const isEarlier = (a: Entry<unknown>, b: Entry<unknown>): boolean =>
  a.ms < b.ms || (a.ms === b.ms && a.entered < b.entered);

export function eventQueue<Item>(): EventQueue<Item> {
  const heap: Entry<Item>[] = [];
  let entered = 0;
  const rise = (entry: Entry<Item>): void => {
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = heap[above];
      if (other === undefined || !isEarlier(entry, other)) break;
      heap[at] = other;
      at = above;
    }
    heap[at] = entry;
  };
  const sink = (entry: Entry<Item>): void => {
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      if (left === undefined) break;
      const goesRight = right !== undefined && isEarlier(right, left);
      const least = goesRight ? right : left;
      if (!isEarlier(least, entry)) break;
      heap[at] = least;
      at = 2 * at + (goesRight ? 2 : 1);
    }
    heap[at] = entry;
  };
  return {
    add: (ms, item) => {
      entered += 1;
      rise({ ms, entered, item });
    },
    next: () => {
      const [first] = heap;
      const last = heap.pop();
      if (first === undefined || last === undefined) return undefined;
      if (heap.length > 0) sink(last);
      return first;
    },
  };
}
