// Places in the schema of a body, and a small value that the schema accepts.

/** The part of JSON Schema that bodies use. */
export interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema | readonly Schema[];
  readonly minimum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
}

/** Steps from the body to a member or an item. */
type Path = readonly (string | number)[];

export interface Place {
  readonly path: Path;
  readonly schema: Schema;
}

/** Texts that patterns of bodies accept. */
const TEXTS = ['PRICES', 'FUZZ.PRICES', '*', 'v', '2024-01-01', 'arn:aws:iam::123456789012:role/a'];

export const itemOf = ({ items }: Schema): Schema =>
  (Array.isArray(items) ? (items as readonly Schema[])[0] : (items as Schema | undefined)) ?? {};

export const memberOf = ({ patternProperties }: Schema): Schema | undefined =>
  Object.values(patternProperties ?? {})[0];

/** The smallest value that the schema accepts, as far as a schema says what is accepted. */
export function smallest(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [one] = schema.anyOf ?? [];
  if (one !== undefined) return smallest(one);
  if (schema.type === 'object') {
    const { properties = {}, required = [] } = schema;
    return Object.fromEntries(required.map((name) => [name, smallest(properties[name] ?? {})]));
  }
  if (schema.type === 'array')
    return Array.from({ length: schema.minItems ?? 0 }, () => smallest(itemOf(schema)));
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  if (schema.type === 'boolean') return true;
  if (schema.type === 'null') return null;
  const { minLength = 0, pattern = '' } = schema;
  const text = TEXTS.find((some) => new RegExp(pattern, 'u').test(some)) ?? '';
  return text.padEnd(minLength, 'x');
}

/** Every place of a body, the body itself first. */
export function placesIn(schema: Schema, path: Path = []): readonly Place[] {
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
    placesIn(one, [...path, name]),
  );
  const member = memberOf(schema);
  const free = member === undefined ? [] : placesIn(member, [...path, 'v']);
  const items = schema.items === undefined ? [] : placesIn(itemOf(schema), [...path, 0]);
  const either = (schema.anyOf ?? []).flatMap((one) => placesIn(one, path));
  return [{ path, schema }, ...below, ...free, ...items, ...either];
}

/** The smallest body that has this value at the place. */
export function bodyWith(schema: Schema, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === 'number') return [bodyWith(itemOf(schema), rest, value)];
  const holder =
    [schema, ...(schema.anyOf ?? [])].find(
      (one) => one.properties?.[step] !== undefined || memberOf(one) !== undefined,
    ) ?? schema;
  const below = holder.properties?.[step] ?? memberOf(holder) ?? {};
  const others = smallest({ ...holder, type: 'object' }) as object;
  return { ...others, [step]: bodyWith(below, rest, value) };
}
