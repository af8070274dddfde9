// Seeded random numbers: the same exchange, symbol and day have the same ones, at every start and on every
// machine.

/** The finalizer of MurmurHash3. */
function mixed(word: number): number {
  let hash = word;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Hashes the seed parts into one word. */
const wordOf = (parts: readonly number[]): number =>
  parts.reduce((hash, part) => mixed(Math.imul(hash ^ (part | 0), 0x9e3779b1)), 0x2545f491);

export interface RandomNumbers {
  /** From 0 to below 1. */
  readonly uniform: () => number;
  /** Mean 0, variance 1, between -3 and 3. */
  readonly normal: () => number;
  /** A whole number from 0 to below `end`. */
  readonly below: (end: number) => number;
}

/** Mulberry32: 32 bits of state are plenty for the numbers of one symbol and day. */
export function seededRandom(...parts: readonly number[]): RandomNumbers {
  let state = wordOf(parts);
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let word = Math.imul(state ^ (state >>> 15), 1 | state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    uniform,
    normal: () => (uniform() + uniform() + uniform() - 1.5) * 2,
    below: (end) => Math.floor(uniform() * end),
  };
}
