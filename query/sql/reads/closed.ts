// Whether a query can run by itself, as far as its text tells: LATERAL may name rows outside.
import { folded } from '../lower/lowering.ts';
import type { Query } from '../plan/selectPlan.ts';

interface Names {
  readonly paths: (readonly string[])[];
  readonly aliases: Set<string>;
}

/**
 * A column that names its table by one that stands in the query is taken for the query's own, and so is
 * one that names no table: a query that then can not run is not counted by (see `countRecords`).
 */
export function isClosed(query: Query): boolean {
  const names: Names = { paths: [], aliases: new Set() };
  collect(query, names);
  return names.paths.every(
    (path) => path.length === 1 || names.aliases.has(folded(path.at(-2) ?? '')),
  );
}

function collect(value: unknown, names: Names): void {
  if (Array.isArray(value)) {
    for (const one of value) collect(one, names);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const { alias, kind, path } = value as {
    readonly alias?: unknown;
    readonly kind?: unknown;
    readonly path?: unknown;
  };
  if (kind === 'column' && Array.isArray(path)) {
    names.paths.push(path.map(String));
    return;
  }
  if (typeof alias === 'string' && kind !== 'value') names.aliases.add(folded(alias));
  for (const one of Object.values(value)) collect(one, names);
}
