// Changes between two OpenAPI documents that may break a program (SPEC.md "Versions").

interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema?: Schema;
  }[];
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >;
}

export interface Interface {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Break {
  /** `operationId`, or `operationId.member`. */
  readonly name: string;
  readonly what: string;
}

/** New operations, optional parameters and new members of answers break nothing. */
export function breaksOf(before: Interface, after: Interface): readonly Break[] {
  return Object.entries(before.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, was]) => {
      const is = after.paths[path]?.[method];
      if (is === undefined) return [{ name: was.operationId, what: `${method} ${path} is gone` }];
      return [...parameterBreaks(was, is), ...answerBreaks(was, is)];
    }),
  );
}

function* parameterBreaks(was: Operation, is: Operation): Generator<Break> {
  const before = new Map((was.parameters ?? []).map((one) => [`${one.in} ${one.name}`, one]));
  const now = new Map((is.parameters ?? []).map((one) => [`${one.in} ${one.name}`, one]));
  const { operationId } = was;
  for (const [key, one] of before) {
    const next = now.get(key);
    const name = `${operationId}.${one.name}`;
    if (next === undefined) yield { name, what: `${key} is gone` };
    else yield* schemaBreaks(one.schema ?? {}, next.schema ?? {}, name);
  }
  for (const [key, one] of now) {
    const wasRequired = before.get(key)?.required === true;
    if (one.required === true && !wasRequired) {
      yield { name: `${operationId}.${one.name}`, what: `${key} is required now` };
    }
  }
}

function* answerBreaks(was: Operation, is: Operation): Generator<Break> {
  for (const [status, { content = {} }] of Object.entries(was.responses)) {
    for (const [mediaType, { schema = {} }] of Object.entries(content)) {
      const next = is.responses[status]?.content?.[mediaType];
      const name = was.operationId;
      if (next === undefined) yield { name, what: `no answer ${status} as ${mediaType}` };
      else yield* schemaBreaks(schema, next.schema ?? {}, name);
    }
  }
}

/** Schemas without a type are not compared: a program could not rely on them. */
function* schemaBreaks(was: Schema, is: Schema, name: string): Generator<Break> {
  if (kindOf(was) !== '' && kindOf(was) !== kindOf(is)) {
    yield { name, what: `was ${kindOf(was)}, is ${kindOf(is) || 'anything'}` };
    return;
  }
  for (const [member, schema] of Object.entries(was.properties ?? {})) {
    const next = is.properties?.[member];
    if (next === undefined) yield { name: `${name}.${member}`, what: 'the member is gone' };
    else yield* schemaBreaks(schema, next, `${name}.${member}`);
  }
  if (was.items !== undefined) yield* schemaBreaks(was.items, is.items ?? {}, name);
  const left = new Set((is.enum ?? []).map((value) => JSON.stringify(value)));
  for (const value of was.enum ?? []) {
    if (left.has(JSON.stringify(value))) continue;
    if (is.enum !== undefined) yield { name, what: `${JSON.stringify(value)} is gone` };
  }
}

/** The type, or the alternative types; '' for any type. */
const kindOf = ({ anyOf, const: only, type }: Schema): string => {
  if (anyOf !== undefined) return anyOf.map(kindOf).toSorted().join(' or ');
  if (typeof type === 'object') return type.toSorted().join(' or ');
  return type ?? (only === undefined ? '' : typeof only);
};

/** The document with all references resolved. */
export function inlined(document: object): object {
  const at = (path: string): unknown =>
    path
      .split('/')
      .slice(1)
      .reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>>)[key], document);
  const within = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(within);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref } = value as { readonly $ref?: unknown };
    if (typeof $ref === 'string') return within(at($ref));
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, within(one)]));
  };
  return within(document) as object;
}
