// Collects the components that several operations of an OpenAPI document share. They keep the document short
// and give a generated client one type for each.

type Json = Readonly<Record<string, unknown>>;

/** A shorter schema stays inline. */
const CHARACTERS_LEAST = 120;

/** Components of one kind by name. */
export class Components {
  readonly #place: string;
  readonly #names = new Map<string, string>();
  readonly #components = new Map<string, unknown>();

  /** @param place in the document, such as `schemas` */
  constructor(place: string) {
    this.#place = place;
  }

  /** Refers to an equal component, or adds one named `preferredName`, with a number if that is in use. */
  refer(value: unknown, preferredName: string): Json {
    const text = JSON.stringify(value);
    let name = this.#names.get(text);
    if (name === undefined) {
      name = preferredName;
      for (let at = 2; this.#components.has(name); at += 1) name = `${preferredName}${at}`;
      this.#names.set(text, name);
      this.#components.set(name, value);
    }
    return { $ref: `#/components/${this.#place}/${name}` };
  }

  all(): Json {
    return Object.fromEntries(this.#components);
  }
}

/** Counts each object in any of these schemas, by its JSON text. */
export function countOccurrences(schemas: readonly unknown[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  const countTypes = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isType(value)) {
      const text = JSON.stringify(value);
      times.set(text, (times.get(text) ?? 0) + 1);
    }
    for (const one of Object.values(value)) countTypes(one);
  };
  for (const schema of schemas) countTypes(schema);
  return times;
}

/**
 * Replaces the schema itself, and its objects that occur elsewhere too, by references to components.
 * @param preferredName the name of a schema without `$id`
 */
export function extractComponents(
  schema: unknown,
  preferredName: string,
  { shared, times }: { readonly shared: Components; readonly times: ReadonlyMap<string, number> },
): unknown {
  const transform = (value: unknown, path: string, isWhole: boolean): unknown => {
    if (Array.isArray(value)) return value.map((one) => transform(one, path, false));
    if (typeof value !== 'object' || value === null) return value;
    const { $id, ...own } = value as Json;
    const result = Object.fromEntries(
      Object.entries(own).map(([key, one]) => [
        key,
        transform(
          one,
          isStructuralKey(key) ? path : `${path}${capitalize(key.replaceAll(/\W/g, ''))}`,
          false,
        ),
      ]),
    );
    // Only the schema's own `$id` is a string: a member may have the same name.
    if (typeof $id === 'string') return shared.refer(result, $id);
    const isCommon = (times.get(JSON.stringify(value)) ?? 0) > 1;
    return isType(value) && (isWhole || isCommon) ? shared.refer(result, path) : result;
  };
  const isList = (schema as Json)['type'] === 'array';
  if (!isList) return transform(schema, preferredName, true);
  const { items, ...list } = schema as Json;
  return { ...list, items: transform(items, `${preferredName}Item`, true) };
}

/** Members of a schema that add nothing to a name. */
const isStructuralKey = (key: string): boolean =>
  ['properties', 'items', 'anyOf', 'additionalProperties'].includes(key);

export const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Whether it is an object with properties, long enough to be a component. */
function isType(value: object): boolean {
  const { properties, type } = value as Json;
  if (type !== 'object' || properties === undefined) return false;
  return JSON.stringify(value).length >= CHARACTERS_LEAST;
}
