// Runs work that must not overlap, one piece after the other in the order of the calls.

type Run = <T>(work: () => Promise<T>) => Promise<T>;

/** Returns a function that starts each piece of work after the one before has settled. */
export function serialQueue(): Run {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
