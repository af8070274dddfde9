// Choices from a seed, so that a failing run can be replayed.

export interface Seeded {
  /** At least 0, less than 1. */
  next(): number;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly [Item, ...(readonly Item[])]): Item;
  /** An independent generator, unaffected by later choices of this one. */
  fork(): Seeded;
}

/** mulberry32: 32 bits of state are enough to choose what a test does. */
export function seeded(seed: number): Seeded {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number =>
    least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0],
    fork: () => seeded(Math.floor(next() * 2 ** 32)),
  };
}

/** Result of a suite; it passed if `failures` is empty. */
export interface Report {
  readonly seed: number;
  readonly count: number;
  readonly failures: readonly string[];
  /** Measured beside the checks, one line each. */
  readonly notes: readonly string[];
}

export interface Order {
  readonly count: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

/** An order of several seeds over the same servers: starting servers takes longer than the rounds. */
export interface Orders extends Omit<Order, 'seed'> {
  readonly seeds: readonly number[];
}
