// Determines from its text whether a query is self-contained: LATERAL may use rows of an outer query.
import { folded } from '../lower/lowering.ts';
import type { Query } from '../plan/selectPlan.ts';

interface Names {
  readonly paths: (readonly string[])[];
  readonly aliases: Set<string>;
}

/**
 * Treats a column as the query's own if the query has its table, or if it names no table. If that is wrong
 * the query can't run, and `countRecords` counts without it.
 */
export function isSelfContained(query: Query): boolean {
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
