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

/** Member values that are accepted; `[]` is an item of a list, `{}` a member of an object. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  conditions: [['latestPrice', '>', 1]],
  'conditions[]': ['latestPrice', '>', 1],
  outputs: [{ method: 'logs', frequency: 60 }],
  'outputs[]': { method: 'logs', frequency: 60 },
  'additionalKeys[]': 'latestPrice',
  'index[]': 'CORE:STOCK:AAA:latestPrice',
  'expectations[]': { range: { property: 'v', min: 1 } },
  'values[]': 1,
  properties: { v: { type: 'number' } },
  'addresses[]': '10.0.0.0/8',
  ruleSet: 'AAA',
  query: 'SELECT v FROM PRICES',
  sqlQuery: 'SELECT v FROM PRICES',
  cron: '0 0 * * *',
  url: 'https://a.example/',
  datasetId: 'PRICES',
};
/** Optional members without which most bodies are refused. */
const USUAL: ReadonlySet<string> = new Set(['url', 'ruleSet']);

/** A small value that the schema accepts; the endpoint may still refuse it. */
export function smallest(schema: Schema, name = ''): unknown {
  if (Object.hasOwn(SAMPLES, name)) return SAMPLES[name];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [one] = schema.anyOf ?? [];
  if (one !== undefined) return smallest(one, name);
  if (schema.type === 'object') return smallestObject(schema);
  if (schema.type === 'array') {
    const item = smallest(itemOf(schema), `${name}[]`);
    return Array.from({ length: schema.minItems ?? 0 }, () => item);
  }
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  if (schema.type === 'boolean') return true;
  if (schema.type === 'null') return null;
  const { minLength = 0, pattern = '' } = schema;
  const text = TEXTS.find((some) => new RegExp(pattern, 'u').test(some)) ?? '';
  return text.padEnd(minLength, 'x');
}

function smallestObject({ properties = {}, required = [] }: Schema): object {
  const names = Object.keys(properties).filter(
    (name) => required.includes(name) || USUAL.has(name),
  );
  return Object.fromEntries(names.map((name) => [name, smallest(properties[name] ?? {}, name)]));
}

/** The optional members of a value, and the share of the maximum that its lists and objects have. */
interface Filling {
  readonly has: (name: string) => boolean;
  readonly share: number;
}

/** Items of a list without a maximum of its own. */
const ITEMS = 1_000;

/** A value that the schema accepts, with as many items and members as `filling` allows. */
export function fullest(schema: Schema, filling: Filling, name = ''): unknown {
  const [one] = schema.anyOf ?? [];
  if (one !== undefined) return fullest(one, filling, name);
  const member = memberOf(schema);
  const countOf = (most = ITEMS): number => Math.max(1, Math.floor(most * filling.share));
  if (member !== undefined) {
    const value = fullest(member, filling, `${name}{}`);
    const named = Array.from({ length: countOf(schema.maxProperties) }, (_, at) => `v${at}`);
    return Object.fromEntries(named.map((some) => [some, value]));
  }
  if (schema.type === 'array') {
    const item = fullest(itemOf(schema), filling, `${name}[]`);
    return Array.from({ length: countOf(schema.maxItems) }, () => item);
  }
  if (schema.type !== 'object' || Object.hasOwn(SAMPLES, name)) return smallest(schema, name);
  const { properties = {}, required = [] } = schema;
  const names = Object.keys(properties).filter(
    (some) => required.includes(some) || USUAL.has(some) || filling.has(some),
  );
  return Object.fromEntries(
    names.map((some) => [some, fullest(properties[some] ?? {}, filling, some)]),
  );
}

/** Every place of a body, starting with the body. */
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
  if (typeof step === 'number') {
    const list = [schema, ...(schema.anyOf ?? [])].find((one) => one.items !== undefined);
    return [bodyWith(itemOf(list ?? schema), rest, value)];
  }
  const holder =
    [schema, ...(schema.anyOf ?? [])].find(
      (one) => one.properties?.[step] !== undefined || memberOf(one) !== undefined,
    ) ?? schema;
  const below = holder.properties?.[step] ?? memberOf(holder) ?? {};
  const others = smallest({ ...holder, type: 'object' }) as object;
  return { ...others, [step]: bodyWith(below, rest, value) };
}
