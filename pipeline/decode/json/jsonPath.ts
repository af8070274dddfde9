// Parses paths to the records of a JSON document: the subset `$`, `.name`, `[*]` (INTERFACE.md 3.7),
// `["name"]` for names with other characters, and `.{name}` for every member of an object, whose own name
// becomes property `name` of each record below it.
import { Failure } from '../../../store/base/failure.ts';

export type JsonStep =
  | { readonly kind: 'member'; readonly name: string }
  /** Every member, and the property that its name becomes. */
  | { readonly kind: 'each'; readonly property: string }
  | { readonly kind: 'elements' };

const STEPS_MAX = 20;
/** Characters of a path. */
const PATH_MAX = 2_000;

const PLAIN_NAME = /^[\p{L}_][\p{L}\p{N}_-]{0,127}$/u;
const PROPERTY = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/;
/** The end of an unquoted name. */
const NAME_END = /[.[]/;

/**
 * `$.data.rows` -> `$.data.rows[*]`: the records are the elements of the array at the path; at `$.{row}` they
 * are the members' values.
 */
export function checkJsonPath(path: string): string {
  const steps = parseJsonPath(path);
  if (steps === undefined) {
    const rule = 'must be $ with steps .name, .{name} and [*], or ["name"] for a name with blanks';
    throw new Failure('InvalidParameter', `"jsonPath" ${rule}; got ${path.slice(0, PATH_MAX)}`);
  }
  const properties = listProperties(path);
  if (new Set(properties).size < properties.length) {
    throw new Failure('InvalidParameter', '"jsonPath" must not give one name to two steps .{name}');
  }
  const last = steps.at(-1);
  return last === undefined || last.kind === 'member' ? `${path}[*]` : path;
}

/** The properties that names of members become. */
const listProperties = (path: string): readonly string[] =>
  parseSteps(path).flatMap((step) => (step.kind === 'each' ? [step.property] : []));

/** @param path that was checked before */
export const parseSteps = (path: string): readonly JsonStep[] => parseJsonPath(path) ?? [];

/** Undefined if the text is not a path. */
function parseJsonPath(path: string): readonly JsonStep[] | undefined {
  if (!path.startsWith('$') || path.length > PATH_MAX) return undefined;
  const steps: JsonStep[] = [];
  for (let at = 1; at < path.length;) {
    const parsed = parseStep(path.slice(at));
    if (parsed === undefined || steps.length === STEPS_MAX) return undefined;
    steps.push(parsed.step);
    at += parsed.length;
  }
  return steps;
}

interface ParsedStep {
  readonly step: JsonStep;
  /** Characters of the path. */
  readonly length: number;
}

function parseStep(rest: string): ParsedStep | undefined {
  if (rest.startsWith('[*]')) return { step: { kind: 'elements' }, length: 3 };
  if (rest.startsWith('["') || rest.startsWith("['")) return parseQuoted(rest);
  if (rest.startsWith('.{')) {
    const end = rest.indexOf('}');
    const property = rest.slice(2, end);
    if (end < 0 || !PROPERTY.test(property)) return undefined;
    return { step: { kind: 'each', property }, length: end + 1 };
  }
  if (!rest.startsWith('.')) return undefined;
  const end = rest.slice(1).search(NAME_END);
  const name = end < 0 ? rest.slice(1) : rest.slice(1, end + 1);
  return PLAIN_NAME.test(name)
    ? { step: { kind: 'member', name }, length: name.length + 1 }
    : undefined;
}

/** `["name"]` or `['name']`, with the escapes of JSON. */
function parseQuoted(rest: string): ParsedStep | undefined {
  const quote = rest.charAt(1);
  let end = 2;
  while (end < rest.length && rest.charAt(end) !== quote) end += rest.charAt(end) === '\\' ? 2 : 1;
  if (rest.charAt(end + 1) !== ']') return undefined;
  const inner = rest.slice(2, end);
  const text = quote === '"' ? inner : inner.replaceAll("\\'", "'").replaceAll('"', '\\"');
  try {
    const name = JSON.parse(`"${text}"`) as string;
    return { step: { kind: 'member', name }, length: end + 2 };
  } catch {
    return undefined;
  }
}

/** Prints steps as a path that `checkJsonPath` accepts. */
export const printJsonPath = (steps: readonly JsonStep[]): string =>
  steps.reduce((path, step) => {
    if (step.kind === 'elements') return `${path}[*]`;
    if (step.kind === 'each') return `${path}.{${step.property}}`;
    return PLAIN_NAME.test(step.name)
      ? `${path}.${step.name}`
      : `${path}[${JSON.stringify(step.name)}]`;
  }, '$');
