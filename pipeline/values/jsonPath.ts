// Where the records of a JSON document are: the subset `$`, `.name`, `[*]` (INTERFACE.md 3.7), and `.{name}`
// for every member of an object, whose own name becomes property `name` of each record below it.
import { Failure } from '../../store/base/failure.ts';

const PATH =
  /^\$(?:\.[A-Za-z_][A-Za-z0-9_-]{0,127}|\.\{[A-Za-z_][A-Za-z0-9_-]{0,127}\}|\[\*\]){0,20}$/;

type JsonStep =
  | { readonly kind: 'member'; readonly name: string }
  /** Every member, and the property that its name becomes. */
  | { readonly kind: 'each'; readonly property: string }
  | { readonly kind: 'elements' };

/**
 * `$.data.rows` -> `$.data.rows[*]`: the records are the elements of the array it names, or at `$.{row}`
 * the members' values.
 */
export function checkJsonPath(path: string): string {
  if (!PATH.test(path)) {
    throw new Failure('InvalidParameter', '"jsonPath" must be $ with steps .name, .{name} and [*]');
  }
  const properties = propertiesOf(path);
  if (new Set(properties).size < properties.length) {
    throw new Failure('InvalidParameter', '"jsonPath" must not give one name to two steps .{name}');
  }
  return /(?:\[\*\]|\})$/.test(path) ? path : `${path}[*]`;
}

export const isJsonPath = (path: string): boolean => PATH.test(path);

/** Properties that names of members become. */
export const propertiesOf = (path: string): readonly string[] =>
  stepsOf(path).flatMap((step) => (step.kind === 'each' ? [step.property] : []));

/** @param path that was checked */
export function stepsOf(path: string): readonly JsonStep[] {
  return [...path.matchAll(/\[\*\]|\.\{([\w-]+)\}|\.([\w-]+)/g)].map(([, property, name]) => {
    if (property !== undefined) return { kind: 'each', property };
    return name === undefined ? { kind: 'elements' } : { kind: 'member', name };
  });
}
