// Work that must not run beside other work of its kind: one after the other, in the order of asking.

type Run = <T>(work: () => Promise<T>) => Promise<T>;

/** Each piece of work begins when the one before has ended, whichever way. */
export function oneByOne(): Run {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
