// Builds schemas of bodies and answers with typebox's types. Typebox's own builders load an engine that no
// schema here uses: 350 files, a sixth of the start time.
import type { Type as TypeBox } from 'typebox';

type Members = Readonly<Record<string, unknown>>;

const optionalSchemas = new WeakSet();

const scalar =
  (type: string) =>
  (options: Members = {}): Members => ({ type, ...options });

function object(properties: Readonly<Record<string, object>>, options: Members = {}): Members {
  const all = Object.entries(properties);
  const required = all.filter(([, one]) => !optionalSchemas.has(one)).map(([name]) => name);
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
}

/** The default pattern of the member names of a record: any name. */
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

function markOptional(schema: Members): Members {
  const copy = { ...schema };
  optionalSchemas.add(copy);
  return copy;
}

const BUILDERS = {
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
  Optional: markOptional,
  Record: record,
  String: scalar('string'),
  Tuple: tuple,
  Union: (anyOf: readonly Members[], options: Members = {}) => ({ anyOf, ...options }),
  Unknown: (options: Members = {}) => ({ ...options }),
  Unsafe: (schema: Members) => ({ ...schema }),
};

export const Type = BUILDERS as unknown as Pick<typeof TypeBox, keyof typeof BUILDERS>;

interface Pattern {
  readonly expression: RegExp;
  /** What a text must be, for the message of its refusal. */
  readonly rule: string;
}

const patterns = new Map<string, Pattern>();

/**
 * Builds the options of a text that must match. The expression is a literal, so that its linear run time can
 * be proved.
 * @param rule completes "must be"
 */
export function matching(expression: RegExp, rule: string): { readonly pattern: string } {
  patterns.set(expression.source, { expression, rule });
  return { pattern: expression.source };
}

/** Finds the expression of a schema's pattern, with its rule in words. */
export function patternOf(source: string): Pattern {
  const pattern = patterns.get(source);
  if (pattern === undefined) throw new Error(`no schema has the pattern ${source}`);
  return pattern;
}
