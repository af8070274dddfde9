// Values beside a printed statement, each in the place of its `$n`.
import type { Bound } from '../../store/duckdb/protocol.ts';

/** Binds a value; its place in the text. */
export type Bind = (value: Bound) => string;

/**
 * Equal values are one parameter: GROUP BY compares expressions as they are written.
 * @param parameters grows with each new value
 */
export function makeBind(parameters: Bound[]): Bind {
  const places = new Map<Bound, string>();
  return (value) => {
    const known = places.get(value) ?? `$${parameters.push(value)}`;
    places.set(value, known);
    return known;
  };
}
