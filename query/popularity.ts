// How often things were asked for lately: who comes into a full memory must be asked for more than
// whom it would drive out (Einziger, Friedman, Manes, "TinyLFU", 2017). Counts are exact here, of a
// bounded number of names, and halved as they grow old.

interface Popularity {
  /** One more time; how often it was by now. */
  ask(name: string): number;
  of(name: string): number;
}

/** @param most names that are counted; past it all counts are halved, and those of one are gone */
export function makePopularity(most: number): Popularity {
  const counts = new Map<string, number>();
  const age = (): void => {
    for (const [name, count] of counts) {
      if (count > 1) counts.set(name, count >> 1);
      else counts.delete(name);
    }
    // All were asked for often: the first ones go all the same.
    for (const name of counts.keys()) {
      if (counts.size <= most / 2) return;
      counts.delete(name);
    }
  };
  return {
    ask: (name) => {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      if (counts.size > most) age();
      return count;
    },
    of: (name) => counts.get(name) ?? 0,
  };
}
