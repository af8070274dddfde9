// JSON schemas of answers: derived from values, and merged.

export interface Shape {
  /** Name of a shape that several answers share. */
  readonly $id?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly enum?: readonly string[];
  /** For an object with dynamic member names, such as symbols. */
  readonly additionalProperties?: Shape;
  readonly maxProperties?: number;
}

const NULL: Shape = { type: 'null' };

/** Answer for a known symbol without data of the type. */
const NOTHING: Shape = { $id: 'Nothing', type: 'object', maxProperties: 0 };

export const orNothing = (shape: Shape): Shape => eitherOf([shape, NOTHING]);

export const listShape = (items: Shape): Shape => ({ type: 'array', items });

/** Members with dynamic names, such as symbols. */
export const mapShape = (shape: Shape): Shape => ({ type: 'object', additionalProperties: shape });

/** An object whose members are all required. */
export const objectShape = (properties: Readonly<Record<string, Shape>>): Shape => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

/** One of several shapes, without duplicates. */
export function eitherOf(shapes: readonly Shape[]): Shape {
  const all = shapes.flatMap((one) => one.anyOf ?? [one]);
  const [only = {}, ...rest] = new Map(all.map((one) => [JSON.stringify(one), one])).values();
  return rest.length === 0 ? only : { anyOf: [only, ...rest] };
}

/** Adds null. */
export function orNull(shape: Shape): Shape {
  const types = typesOf(shape);
  return types.length === 0 ? eitherOf([shape, NULL]) : scalarOf([...types, 'null']);
}

/** Items inspected at each end of a list: those between are like them. */
const ENDS = 4;

/** Any attribute of an object, or null. */
export const attributeShape = ({ properties = {} }: Shape): Shape =>
  orNull(mergeShapes(Object.values(properties)));

export function shapeOf(value: unknown): Shape {
  if (value === null || value === undefined) return NULL;
  if (Array.isArray(value)) {
    const ends = [...value.slice(0, ENDS), ...value.slice(ENDS).slice(-ENDS)] as readonly unknown[];
    return listShape(mergeShapes(ends.map(shapeOf)));
  }
  if (typeof value !== 'object') return { type: typeof value };
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return objectShape(Object.fromEntries(members.map(([name, one]) => [name, shapeOf(one)])));
}

/** Merges shapes: a member that one of the objects lacks is optional. */
export function mergeShapes(shapes: readonly Shape[]): Shape {
  const all = shapes.flatMap(({ anyOf, ...shape }) => anyOf ?? [shape]);
  const objects = all.filter(({ type }) => type === 'object');
  const lists = all.filter(({ type }) => type === 'array');
  const scalars = new Set(all.flatMap(typesOf));
  const whole = [
    ...(objects.length === 0 ? [] : [unitedObjects(objects)]),
    ...(lists.length === 0 ? [] : [listShape(mergeShapes(lists.map(({ items = {} }) => items)))]),
  ];
  return eitherOf([...whole, ...(scalars.size === 0 ? [] : [scalarOf([...scalars])])]);
}

function unitedObjects(objects: readonly Shape[]): Shape {
  const [{ $id } = {}] = objects;
  const names = [...new Set(objects.flatMap(({ properties = {} }) => Object.keys(properties)))];
  const properties = names.map((name) => {
    const own = objects.flatMap((one) => one.properties?.[name] ?? []);
    return [name, mergeShapes(own)] as const;
  });
  const required = names.filter((name) => objects.every((one) => one.required?.includes(name)));
  return {
    ...($id === undefined ? {} : { $id }),
    type: 'object',
    properties: Object.fromEntries(properties),
    required,
  };
}

/** Scalar types of a shape; none for objects and lists. */
function typesOf({ enum: _, type = [] }: Shape): readonly string[] {
  const types = typeof type === 'string' ? [type] : type;
  return types.some((one) => one === 'object' || one === 'array') ? [] : types;
}

/** In a fixed order, null last. */
function scalarOf(types: readonly string[]): Shape {
  const order = ['string', 'integer', 'number', 'boolean', 'null'];
  const [only = '', ...rest] = order.filter((type) => types.includes(type));
  return { type: rest.length === 0 ? only : [only, ...rest] };
}

/** Sets the type of attributes that are null in every observed answer. */
export function withNullTypes(
  shape: Shape,
  names: readonly string[],
  type: 'number' | 'string' = 'number',
): Shape {
  if (names.length === 0) return shape;
  return withMembers(shape, (member, name) =>
    name !== undefined && names.includes(name)
      ? orNull({ type })
      : withNullTypes(member, names, type),
  );
}

/** Replaces nested shapes: items of a list, and named members. */
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
