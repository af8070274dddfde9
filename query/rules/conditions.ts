// Parses the conditions of a rule over named values, and checks them against the kinds of the values.
import { Failure } from '../../store/base/failure.ts';
import { OPERATORS, type ValueKind } from './operators.ts';
import { parseSpan } from './sessionTime.ts';

/** Returns the kind of a value by its name. */
type KindOf = (name: string) => ValueKind | undefined;

export type Literal = number | string | boolean;

/** The right side: a literal, or the value of another name. */
type Right = { readonly literal: Literal } | { readonly name: string };

export interface Condition {
  readonly name: string;
  readonly kind: ValueKind;
  readonly operator: string;
  readonly right: Right;
}

/** Conditions of one rule. */
export const CONDITIONS_MAX = 100;
/** Characters of a text on the right. */
const TEXT_MAX = 1_000;
const DATE = /^\d{4}-\d\d-\d\d$/;

/**
 * Parses conditions as clients write them: lists of a name, an operator and a right side.
 * @throws Failure InvalidParameter naming the condition and its rule
 */
export function parseConditions(input: readonly unknown[], kindOf: KindOf): readonly Condition[] {
  if (input.length === 0) refuse('conditions', 'must have at least one');
  if (input.length > CONDITIONS_MAX) refuse('conditions', `has at most ${CONDITIONS_MAX}`);
  return input.map((one, at) => parseCondition(one, `conditions[${at}]`, kindOf));
}

export const unknownValueRule = (name: string): string =>
  `has no known value: ${name.slice(0, 100)}`;

function parseCondition(input: unknown, where: string, kindOf: KindOf): Condition {
  if (!Array.isArray(input) || input.length < 2 || input.length > 3) {
    return refuse(where, 'must be a list of a value, an operator and what it is compared with');
  }
  const [name, operator, right] = input as readonly unknown[];
  if (typeof name !== 'string') return refuse(where, 'must begin with the name of a value');
  const kind = kindOf(name);
  if (kind === undefined) return refuse(where, unknownValueRule(name));
  const operators = OPERATORS[kind].map(({ value }) => value);
  if (typeof operator !== 'string' || !operators.includes(operator)) {
    return refuse(where, `has an operator of ${kind} values: ${operators.join(', ')}`);
  }
  return { name, kind, operator, right: parseRight({ kind, operator, right, where, kindOf }) };
}

interface RightInput {
  readonly kind: ValueKind;
  readonly operator: string;
  readonly right: unknown;
  readonly where: string;
  readonly kindOf: KindOf;
}

function parseRight({ kind, kindOf, operator, right, where }: RightInput): Right {
  if (operator === 'true' || operator === 'false') return { literal: operator === 'true' };
  if (isName(right)) {
    if (kindOf(right.name) === kind) return { name: right.name };
    return refuse(where, `compares a ${kind} with another value that is one`);
  }
  if (kind === 'number') return numberOrName(right, where, kindOf);
  if (kind === 'boolean' || kind === 'event') return { literal: parseTruth(right, where) };
  if (typeof right !== 'string') return refuse(where, `compares a ${kind} with a text`);
  if (right.length > TEXT_MAX) return refuse(where, `compares at most ${TEXT_MAX} characters`);
  if (kind === 'time' && parseSpan(right) === undefined) {
    return refuse(where, 'must be within a span such as 09:30:00 - 16:00:00');
  }
  if (isPlain(right) && kindOf(right) === kind) return { name: right };
  if (kind === 'date' && !DATE.test(right)) {
    return refuse(where, 'must be compared with a date YYYY-MM-DD or another date');
  }
  return { literal: right };
}

/** An explicit name, in any spelling. */
const isName = (right: unknown): right is { readonly name: string } =>
  typeof right === 'object' && right !== null && 'name' in right && typeof right.name === 'string';

/** Whether a text can be the name of a value; any other is a literal. */
const isPlain = (text: string): boolean => /^\w{1,100}$/.test(text);

function numberOrName(right: unknown, where: string, kindOf: KindOf): Right {
  if (typeof right === 'number' && Number.isFinite(right)) return { literal: right };
  if (typeof right !== 'string') return refuse(where, 'compares a number with a number');
  if (isPlain(right) && kindOf(right) === 'number') return { name: right };
  return refuse(where, 'compares a number with a number or another value that is one');
}

function parseTruth(right: unknown, where: string): boolean {
  if (typeof right === 'boolean') return right;
  if (right === 'true' || right === 'True') return true;
  if (right === 'false' || right === 'False') return false;
  return refuse(where, 'compares with true or false');
}

function refuse(where: string, rule: string): never {
  throw new Failure('InvalidParameter', `${where} ${rule}`);
}

/** Returns the names that conditions read, each once. */
export function conditionNames(conditions: readonly Condition[]): readonly string[] {
  const names = conditions.flatMap(({ name, right }) =>
    'name' in right ? [name, right.name] : [name],
  );
  return [...new Set(names)];
}
