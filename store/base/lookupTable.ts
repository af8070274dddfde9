// Tables that are looked up by a name of a caller: `constructor` and `__proto__` are names that they lack.

/** Rows by name, without the members that every object inherits. */
export const lookupTable = <Value>(
  rows: Readonly<Record<string, Value>>,
): Readonly<Record<string, Value>> =>
  Object.assign(Object.create(null) as Record<string, Value>, rows);
