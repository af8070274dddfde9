// Checks query parameters, which are declared once in the endpoint table and documented in OpenAPI.
import { parseDay } from '../../query/time/dates.ts';
import type { Day } from '../../query/time/days.ts';
import { ITEMS_MAX } from './bodyLimits.ts';
import { Failure } from '../../store/base/failure.ts';
import { choiceRule, rangeRule } from '../../store/base/valueRules.ts';

interface Declared {
  readonly name: string;
  readonly help: string;
}

export type Parameter =
  | (Declared & {
      readonly kind: 'text';
      readonly pattern?: RegExp;
      readonly rule?: string;
      /** Maximum characters; 4,096 by default. */
      readonly charactersMax?: number;
    })
  /** `mayBeEmpty`: its endpoint handles an empty list. */
  | (Declared & { readonly kind: 'list'; readonly mayBeEmpty?: true })
  | (Declared & { readonly kind: 'day' })
  | (Declared & { readonly kind: 'integer'; readonly least: number; readonly most: number })
  | (Declared & { readonly kind: 'boolean' })
  | (Declared & { readonly kind: 'choice'; readonly choices: readonly string[] });

type Value = string | number | boolean | readonly string[];
export type Values = Readonly<Record<string, Value>>;

/** Maximum characters of one value. Keys may have 1,500 bytes (INTERFACE.md 3.8). */
const TEXT_MAX = 4_096;

/** Accepted everywhere: the token, and the cache-buster of browser libraries (DESIGN.md). */
const ALWAYS = new Set(['token', '_']);

interface Declarations {
  readonly parameters: readonly Parameter[];
  readonly openParameters?: true;
}

const undeclaredParameter = (name: string): Parameter => ({ kind: 'text', name, help: '' });

/** @throws Failure InvalidParameter naming the parameter and its rule. */
export function readParameters(
  { openParameters, parameters }: Declarations,
  query: Readonly<Record<string, unknown>>,
): Values {
  const byName = mapByName(parameters);
  const values: Record<string, Value> = {};
  for (const [name, raw] of Object.entries(query)) {
    if (ALWAYS.has(name)) continue;
    const parameter = byName.get(name);
    if (parameter === undefined && openParameters === true)
      values[name] = readValue(undeclaredParameter(name), raw);
    else if (parameter === undefined) refuse(name, 'is not allowed');
    else values[name] = readValue(parameter, raw);
  }
  return values;
}

const mapCache = new WeakMap<readonly Parameter[], ReadonlyMap<string, Parameter>>();

/** Maps the declarations of an endpoint by name; cached. */
function mapByName(declared: readonly Parameter[]): ReadonlyMap<string, Parameter> {
  const cached = mapCache.get(declared);
  if (cached !== undefined) return cached;
  const byName = new Map(declared.map((parameter) => [parameter.name, parameter]));
  mapCache.set(declared, byName);
  return byName;
}

/** Throws a refusal. A token that was sent as a name is redacted: answers end up in logs of others. */
export const refuse = (name: string, rule: string): never => {
  const redactedName = name.slice(0, 64).replaceAll(/([psa]k_)\w+/g, '$1…');
  throw new Failure('InvalidParameter', `"${redactedName}" ${rule}`);
};

function readValue(parameter: Parameter, raw: unknown): Value {
  const { name } = parameter;
  if (typeof raw !== 'string') return refuse(name, 'must be given once');
  if (raw === '' && !('mayBeEmpty' in parameter)) {
    return refuse(name, 'is not allowed to be empty');
  }
  const most = 'charactersMax' in parameter ? parameter.charactersMax : undefined;
  if (raw.length > (most ?? TEXT_MAX)) {
    return refuse(name, `must have at most ${most ?? TEXT_MAX} characters`);
  }
  if (parameter.kind === 'text') {
    const isMatch = parameter.pattern === undefined || parameter.pattern.test(raw);
    return isMatch ? raw : refuse(name, parameter.rule ?? 'is not valid');
  }
  if (parameter.kind === 'list') return raw.split(',').filter((item) => item !== '');
  if (parameter.kind === 'day') return parseDay(name, raw);
  if (parameter.kind === 'integer') return readInteger(parameter, raw);
  if (parameter.kind === 'boolean') return parseBoolean(name, raw);
  const choice = parameter.choices.find((item) => item.toLowerCase() === raw.toLowerCase());
  return choice ?? refuse(name, choiceRule(parameter.choices));
}

function readInteger(
  { name, least, most }: Extract<Parameter, { kind: 'integer' }>,
  raw: string,
): number {
  const value = Number(raw);
  if (/^\d{1,15}$/.test(raw) && value >= least && value <= most) return value;
  return refuse(name, rangeRule(least, most));
}

/** @throws Failure InvalidParameter naming the parameter. */
export function parseBoolean(name: string, raw: string): boolean {
  if (/^(true|1)$/i.test(raw)) return true;
  return /^(false|0)$/i.test(raw) ? false : refuse(name, 'must be a boolean');
}

/**
 * Merges the members of a form's body into the query, where clients put them too; a body that is no object,
 * such as the text `[object Object]` of old clients, has none.
 * @throws Failure InvalidParameter if a member is no text, number or boolean; InvalidBody for too many.
 */
export function mergeForm(
  query: Readonly<Record<string, unknown>>,
  json: unknown,
): Readonly<Record<string, unknown>> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return query;
  const names = Object.keys(json);
  if (names.length > ITEMS_MAX)
    throw new Failure('InvalidBody', `the body must have at most ${ITEMS_MAX} members`);
  const members = Object.entries(json).map(([name, value]) => {
    const isScalar = ['string', 'number', 'boolean'].includes(typeof value);
    if (!isScalar) refuse(name, 'must be a text, number or boolean');
    return [name, String(value)];
  });
  return { ...query, ...Object.fromEntries(members) };
}

export const textOf = (values: Values, name: string): string | undefined => {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
};

export const dayOf = (values: Values, name: string): Day | undefined => textOf(values, name);

export const numberOf = (values: Values, name: string): number | undefined => {
  const value = values[name];
  return typeof value === 'number' ? value : undefined;
};

export const truthOf = (values: Values, name: string): boolean => values[name] === true;

export const listOf = (values: Values, name: string): readonly string[] | undefined => {
  const value = values[name];
  return Array.isArray(value) ? (value as readonly string[]) : undefined;
};
