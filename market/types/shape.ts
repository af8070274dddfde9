// What an answer is, as a JSON schema: made of answers, and put together.

export interface Shape {
  /** What it is called where several answers have it. */
  readonly $id?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly enum?: readonly string[];
  /** Of an object whose members have names of their own, such as symbols. */
  readonly additionalProperties?: Shape;
  readonly maxProperties?: number;
}

const NULL: Shape = { type: 'null' };

/** What a symbol that is known has of a type of which nothing is known. */
const NOTHING: Shape = { $id: 'Nothing', type: 'object', maxProperties: 0 };

export const orNothing = (shape: Shape): Shape => eitherOf([shape, NOTHING]);

export const listShape = (items: Shape): Shape => ({ type: 'array', items });

/** By names of their own, such as symbols. */
export const mapShape = (shape: Shape): Shape => ({ type: 'object', additionalProperties: shape });

/** All members are always there. */
export const objectShape = (properties: Readonly<Record<string, Shape>>): Shape => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

/** One of these, each once. */
export function eitherOf(shapes: readonly Shape[]): Shape {
  const all = shapes.flatMap((one) => one.anyOf ?? [one]);
  const [only = {}, ...rest] = new Map(all.map((one) => [JSON.stringify(one), one])).values();
  return rest.length === 0 ? only : { anyOf: [only, ...rest] };
}

/** Or null. */
export function orNull(shape: Shape): Shape {
  const types = typesOf(shape);
  return types.length === 0 ? eitherOf([shape, NULL]) : scalarOf([...types, 'null']);
}

/** Of a list so many at both ends are looked at: those between are like them. */
const ENDS = 4;

/** Any of the attributes of an object, or null. */
export const attributeShape = ({ properties = {} }: Shape): Shape =>
  orNull(united(Object.values(properties)));

export function shapeOf(value: unknown): Shape {
  if (value === null || value === undefined) return NULL;
  if (Array.isArray(value)) {
    const ends = [...value.slice(0, ENDS), ...value.slice(ENDS).slice(-ENDS)] as readonly unknown[];
    return listShape(united(ends.map(shapeOf)));
  }
  if (typeof value !== 'object') return { type: typeof value };
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return objectShape(Object.fromEntries(members.map(([name, one]) => [name, shapeOf(one)])));
}

/** What all of these are: a member that one object lacks may be missing. */
export function united(shapes: readonly Shape[]): Shape {
  const all = shapes.flatMap(({ anyOf, ...shape }) => anyOf ?? [shape]);
  const objects = all.filter(({ type }) => type === 'object');
  const lists = all.filter(({ type }) => type === 'array');
  const scalars = new Set(all.flatMap(typesOf));
  const whole = [
    ...(objects.length === 0 ? [] : [unitedObjects(objects)]),
    ...(lists.length === 0 ? [] : [listShape(united(lists.map(({ items = {} }) => items)))]),
  ];
  return eitherOf([...whole, ...(scalars.size === 0 ? [] : [scalarOf([...scalars])])]);
}

function unitedObjects(objects: readonly Shape[]): Shape {
  const [{ $id } = {}] = objects;
  const names = [...new Set(objects.flatMap(({ properties = {} }) => Object.keys(properties)))];
  const properties = names.map((name) => {
    const own = objects.flatMap((one) => one.properties?.[name] ?? []);
    return [name, united(own)] as const;
  });
  const required = names.filter((name) => objects.every((one) => one.required?.includes(name)));
  return {
    ...($id === undefined ? {} : { $id }),
    type: 'object',
    properties: Object.fromEntries(properties),
    required,
  };
}

/** Types of what is no object and no list; none of those. */
function typesOf({ enum: _, type = [] }: Shape): readonly string[] {
  const types = typeof type === 'string' ? [type] : type;
  return types.some((one) => one === 'object' || one === 'array') ? [] : types;
}

/** In one order, null last. */
function scalarOf(types: readonly string[]): Shape {
  const order = ['string', 'integer', 'number', 'boolean', 'null'];
  const [only = '', ...rest] = order.filter((type) => types.includes(type));
  return { type: rest.length === 0 ? only : [only, ...rest] };
}

/** Attributes of these names are of this type, though all that is observed of them is null. */
export function withUntold(
  shape: Shape,
  names: readonly string[],
  type: 'number' | 'string' = 'number',
): Shape {
  if (names.length === 0) return shape;
  return withMembers(shape, (member, name) =>
    name !== undefined && names.includes(name) ? orNull({ type }) : withUntold(member, names, type),
  );
}

/** With others in place of what is in it: items of a list, and members, which have names. */
export function withMembers(shape: Shape, change: (member: Shape, name?: string) => Shape): Shape {
  const { items, properties } = shape;
  const members = Object.entries(properties ?? {}).map(
    ([name, member]) => [name, change(member, name)] as const,
  );
  return {
    ...shape,
    ...(items === undefined ? {} : { items: change(items) }),
    ...(properties === undefined ? {} : { properties: Object.fromEntries(members) }),
  };
}
