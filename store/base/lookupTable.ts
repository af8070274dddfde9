// Tables whose key is a name of a caller: they lack `constructor` and `__proto__`, which all objects inherit.

/** Rows by name, without the members that every object inherits. */
export const lookupTable = <Value>(
  rows: Readonly<Record<string, Value>>,
): Readonly<Record<string, Value>> =>
  Object.assign(Object.create(null) as Record<string, Value>, rows);
