// How often things were asked for lately: who comes into a full memory must be asked for more than
// whom it would drive out (Einziger, Friedman, Manes, "TinyLFU", 2017). Counts are exact here, of a
// bounded number of names, and halved as they grow old.

/** One of them; whoever keeps it counts without looking it up. */
export interface Uses {
  count: number;
}

interface CacheAdmission {
  /** One more time. */
  ask(name: string): Uses;
}

/** @param most names that are counted; past it all counts are halved, and those of one are gone */
export function makeCacheAdmission(most: number): CacheAdmission {
  const names = new Map<string, Uses>();
  const age = (): void => {
    for (const [name, asked] of names) {
      asked.count >>= 1;
      if (asked.count === 0) names.delete(name);
    }
    // All were asked for often: the first ones go all the same.
    for (const name of names.keys()) {
      if (names.size <= most / 2) return;
      names.delete(name);
    }
  };
  return {
    ask: (name) => {
      const asked = names.get(name) ?? { count: 0 };
      asked.count += 1;
      names.set(name, asked);
      if (names.size > most) age();
      return asked;
    },
  };
}
