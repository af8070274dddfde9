// Schemas of bodies and answers, as typebox makes and types them. Its own makers come with an engine that no
// schema here uses: 350 files, a sixth of a start.
import type { Type as TypeBox } from 'typebox';

type Members = Readonly<Record<string, unknown>>;

const optional = new WeakSet();

const scalar =
  (type: string) =>
  (options: Members = {}): Members => ({ type, ...options });

function object(properties: Readonly<Record<string, object>>, options: Members = {}): Members {
  const all = Object.entries(properties);
  const required = all.filter(([, one]) => !optional.has(one)).map(([name]) => name);
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
}

/** What records have as a pattern where the schema of their names has none: a member of any name. */
export const ANY_NAME = '^.*$';

const record = (key: Members, value: Members, options: Members = {}): Members => ({
  type: 'object',
  patternProperties: { [String(key['pattern'] ?? ANY_NAME)]: value },
  ...options,
});

const tuple = (items: readonly Members[], options: Members = {}): Members => ({
  type: 'array',
  additionalItems: false,
  items,
  minItems: items.length,
  ...options,
});

function marked(schema: Members): Members {
  const copy = { ...schema };
  optional.add(copy);
  return copy;
}

const MAKERS = {
  Array: (items: Members, options: Members = {}) => ({ type: 'array', items, ...options }),
  Boolean: scalar('boolean'),
  Enum: (values: readonly unknown[], options: Members = {}) => ({ enum: values, ...options }),
  Integer: scalar('integer'),
  Literal: (value: unknown, options: Members = {}) => ({
    type: typeof value,
    const: value,
    ...options,
  }),
  Never: () => ({ not: {} }),
  Null: scalar('null'),
  Number: scalar('number'),
  Object: object,
  Optional: marked,
  Record: record,
  String: scalar('string'),
  Tuple: tuple,
  Union: (anyOf: readonly Members[], options: Members = {}) => ({ anyOf, ...options }),
  Unknown: (options: Members = {}) => ({ ...options }),
  Unsafe: (schema: Members) => ({ ...schema }),
};

export const Type = MAKERS as unknown as Pick<typeof TypeBox, keyof typeof MAKERS>;

interface Pattern {
  readonly expression: RegExp;
  /** What a text must be, as its refusal says it. */
  readonly rule: string;
}

const patterns = new Map<string, Pattern>();

/**
 * Options of a text that must match. The expression is a literal, so that it can be proved to be linear.
 * @param rule completes "must be"
 */
export function matching(expression: RegExp, rule: string): { readonly pattern: string } {
  patterns.set(expression.source, { expression, rule });
  return { pattern: expression.source };
}

/** The expression whose source a schema has, and its rule in words. */
export function patternOf(source: string): Pattern {
  const pattern = patterns.get(source);
  if (pattern === undefined) throw new Error(`no schema has the pattern ${source}`);
  return pattern;
}
