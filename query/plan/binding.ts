// Binds values to a printed statement, each at the position of its `$n`.
import type { Bound } from '../../store/duckdb/protocol.ts';

/** Binds a value and returns its placeholder. */
export type Bind = (value: Bound) => string;

/**
 * Binds equal values once: GROUP BY compares expressions as they are written.
 * @param parameters grows with each new value
 */
export function makeBind(parameters: Bound[]): Bind {
  const places = new Map<Bound, string>();
  return (value) => {
    const placeholder = places.get(value) ?? `$${parameters.push(value)}`;
    places.set(value, placeholder);
    return placeholder;
  };
}
