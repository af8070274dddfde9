// Counts recent requests per name. A full cache admits a new entry only if it is requested more often than
// the entry it would evict (Einziger, Friedman, Manes, "TinyLFU", 2017). Counts are exact here, of a
// bounded number of names, and halved as they grow old.

/** The counter of one name; a caller that keeps it counts without a look-up. */
export interface UseCount {
  count: number;
}

interface CacheAdmission {
  /** Counts one more request. */
  countRequest(name: string): UseCount;
}

/** @param most names that are counted; above it all counts are halved, and names counted once are removed */
export function makeCacheAdmission(most: number): CacheAdmission {
  const names = new Map<string, UseCount>();
  const age = (): void => {
    for (const [name, uses] of names) {
      uses.count >>= 1;
      if (uses.count === 0) names.delete(name);
    }
    // All names are popular: remove the oldest anyway.
    for (const name of names.keys()) {
      if (names.size <= most / 2) return;
      names.delete(name);
    }
  };
  return {
    countRequest: (name) => {
      const uses = names.get(name) ?? { count: 0 };
      uses.count += 1;
      names.set(name, uses);
      if (names.size > most) age();
      return uses;
    },
  };
}
