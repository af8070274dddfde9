// Elements that are in one list more often than in another.

/** Each name that `now` has more often than `then`, once for each additional occurrence. */
export function moreThan(now: readonly string[], then: readonly string[]): readonly string[] {
  const rest = [...then];
  return now.filter((name) => {
    const at = rest.indexOf(name);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}
