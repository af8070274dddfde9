// What is in one list more often than in another.

/** Each name that `now` has more often than `then`, as often as it has more. */
export function moreThan(now: readonly string[], then: readonly string[]): readonly string[] {
  const rest = [...then];
  return now.filter((name) => {
    const at = rest.indexOf(name);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}
