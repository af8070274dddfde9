// What several operations of an OpenAPI document have in common stands in its components once: so that it is
// short, and a generated client has one type of it.

type Json = Readonly<Record<string, unknown>>;

/** A schema that is shorter is no type of its own. */
const CHARACTERS_LEAST = 120;

/** Components of one kind, by their names. */
export class Shared {
  readonly #place: string;
  readonly #names = new Map<string, string>();
  readonly #taken = new Map<string, unknown>();

  /** @param place in the document, as `schemas` */
  constructor(place: string) {
    this.#place = place;
  }

  /** Refers to what is equal already, or names it: by `wish`, or by that and a number. */
  refer(value: unknown, wish: string): Json {
    const text = JSON.stringify(value);
    let name = this.#names.get(text);
    if (name === undefined) {
      name = wish;
      for (let at = 2; this.#taken.has(name); at += 1) name = `${wish}${at}`;
      this.#names.set(text, name);
      this.#taken.set(name, value);
    }
    return { $ref: `#/components/${this.#place}/${name}` };
  }

  all(): Json {
    return Object.fromEntries(this.#taken);
  }
}

/** How often each object stands in any of these schemas, by its text. */
export function timesOf(schemas: readonly unknown[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isType(value)) {
      const text = JSON.stringify(value);
      times.set(text, (times.get(text) ?? 0) + 1);
    }
    for (const one of Object.values(value)) look(one);
  };
  for (const schema of schemas) look(schema);
  return times;
}

/**
 * The schema with its objects named: the one that it is, and those in it that stand elsewhere too.
 * @param wish what it is called where nobody called it otherwise
 */
export function named(
  schema: unknown,
  wish: string,
  { shared, times }: { readonly shared: Shared; readonly times: ReadonlyMap<string, number> },
): unknown {
  const within = (value: unknown, path: string, isWhole: boolean): unknown => {
    if (Array.isArray(value)) return value.map((one) => within(one, path, false));
    if (typeof value !== 'object' || value === null) return value;
    const { $id, ...own } = value as Json;
    const made = Object.fromEntries(
      Object.entries(own).map(([key, one]) => [
        key,
        within(one, isStep(key) ? path : `${path}${capital(key.replaceAll(/\W/g, ''))}`, false),
      ]),
    );
    // Only what a schema itself says: a member may be called so.
    if (typeof $id === 'string') return shared.refer(made, $id);
    const isCommon = (times.get(JSON.stringify(value)) ?? 0) > 1;
    return isType(value) && (isWhole || isCommon) ? shared.refer(made, path) : made;
  };
  const isList = (schema as Json)['type'] === 'array';
  if (!isList) return within(schema, wish, true);
  const { items, ...list } = schema as Json;
  return { ...list, items: within(items, `${wish}Item`, true) };
}

/** Members of a schema that say nothing of what is in it. */
const isStep = (key: string): boolean =>
  ['properties', 'items', 'anyOf', 'additionalProperties'].includes(key);

export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** An object with members that is long enough. */
function isType(value: object): boolean {
  const { properties, type } = value as Json;
  if (type !== 'object' || properties === undefined) return false;
  return JSON.stringify(value).length >= CHARACTERS_LEAST;
}
