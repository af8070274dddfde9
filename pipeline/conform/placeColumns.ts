// Columns of a dataset whose place documents its properties, such as a market input: documented
// names match in any case, documented properties are allowed in every dataset, and other columns are kept.
import type { PropertyType } from '../../store/lake/versions/columns.ts';
import type { SchemaContract } from '../../store/lake/datasets/contracts.ts';
import type { DatasetDefaults } from '../../store/lake/datasets/defaults.ts';
import { nameInFile } from '../values/namedColumns.ts';
import type { Relation } from '../values/relation.ts';

type Properties = Readonly<Record<string, PropertyType>>;

/**
 * Spells columns as documented: `Close` of a file is property `close`, unless the file has a column `close`.
 * @param existing properties of the dataset; they keep their own spelling
 */
export function spellAsDocumented(
  relation: Relation,
  defaults: DatasetDefaults | undefined,
  existing: readonly string[],
): Relation {
  if (defaults === undefined) return relation;
  const names = new Map(
    [...Object.keys(defaults.types), ...existing].map((one) => [lower(one), one]),
  );
  const usedNames = new Set(relation.columns.map(({ name }) => name));
  const spelled = new Map<string, string>();
  for (const { name } of relation.columns) {
    const own = names.get(lower(name));
    if (own === undefined || own === name || usedNames.has(own)) continue;
    usedNames.add(own);
    spelled.set(name, own);
  }
  if (spelled.size === 0) return relation;
  const columns = relation.columns.map((column) => {
    const name = spelled.get(column.name);
    return name === undefined ? column : { ...column, name, from: nameInFile(column) };
  });
  if (relation.kind !== 'csv') return { ...relation, columns };
  const layout = relation.layout ?? relation.columns.map(({ name }) => name);
  return { ...relation, columns, layout: layout.map((name) => spelled.get(name) ?? name) };
}

const lower = (name: string): string => name.toLowerCase();

/** Columns of a file that are added to the schema: documented ones get their documented type. */
export function addedProperties(
  { columns }: SchemaContract,
  defaults: DatasetDefaults | undefined,
  inferred: Properties,
): Properties {
  const types = defaults?.types ?? {};
  const added = Object.entries(inferred).filter(
    ([name]) => columns === 'evolve' || (columns === 'discard_value' && Object.hasOwn(types, name)),
  );
  return Object.fromEntries(
    added.map(([name, type]) => [name, Object.hasOwn(types, name) ? (types[name] ?? type) : type]),
  );
}

/** Whether a property's type is inferred from files alone: a later file may widen it. */
export const isUndocumented = (defaults: DatasetDefaults | undefined, name: string): boolean =>
  defaults !== undefined && !Object.hasOwn(defaults.types, name);
