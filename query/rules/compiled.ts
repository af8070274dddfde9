// Conditions as one function of values: each reads its places of a list, and compares.
import type { Condition, Literal } from './conditions.ts';
import { isWithin, spanOf } from './sessionTime.ts';

type Value = Literal | null | undefined;

/** What is known, by place; undefined and null are not known. */
export interface Known {
  /** Of the symbol that the rule is looked at for. */
  readonly own: readonly Value[];
  /** Of named records, whatever the symbol. */
  readonly shared: readonly Value[];
}

/** Where the values of a name are. */
export interface Place {
  readonly of: keyof Known;
  readonly at: number;
}

/** @param secondOfDay seconds since midnight in the exchange's zone */
export type Test = (known: Known, secondOfDay: number) => boolean;

export type Match = 'any' | 'all';

type PlaceOf = (name: string) => Place;

export function compile(conditions: readonly Condition[], match: Match, placeOf: PlaceOf): Test {
  const tests = conditions.map((condition) => compileOne(condition, placeOf));
  const [first] = tests;
  if (tests.length === 1 && first !== undefined) return first;
  const [, second] = tests;
  if (tests.length === 2 && first !== undefined && second !== undefined) {
    return match === 'any'
      ? (known, at) => first(known, at) || second(known, at)
      : (known, at) => first(known, at) && second(known, at);
  }
  return match === 'any'
    ? (known, second) => {
        for (const test of tests) if (test(known, second)) return true;
        return false;
      }
    : (known, second) => {
        for (const test of tests) if (!test(known, second)) return false;
        return true;
      };
}

/** One condition, also for whoever tells why a rule did not pass. */
export function compileOne(condition: Condition, placeOf: PlaceOf): Test {
  const { kind, name, operator, right } = condition;
  if (kind === 'time') {
    const span = 'literal' in right ? spanOf(String(right.literal)) : undefined;
    return (_known, second) => span !== undefined && isWithin(span, second);
  }
  const { at, of } = placeOf(name);
  if (kind === 'event') {
    const wanted = 'literal' in right && right.literal === true;
    return (known) => (known[of][at] === true) === wanted;
  }
  const isRight = COMPARES[TRUTHS.includes(operator) ? '==' : operator] ?? never;
  const type = kind === 'number' || kind === 'boolean' ? kind : 'string';
  if ('name' in right) {
    const other = placeOf(right.name);
    return (known) => {
      const [left, compared] = [known[of][at], known[other.of][other.at]];
      return typeof left === type && typeof compared === type && isRight(left, compared);
    };
  }
  const { literal } = right;
  // What nearly every condition is, without a call in between.
  if (operator === '>' && of === 'own') {
    return ({ own }) => typeof own[at] === type && (own[at] ?? 0) > literal;
  }
  if (operator === '<' && of === 'own') {
    return ({ own }) => typeof own[at] === type && (own[at] ?? 0) < literal;
  }
  return (known) => typeof known[of][at] === type && isRight(known[of][at], literal);
}

const TRUTHS = ['true', 'false'];

type Compare = (left: Value, right: Value) => boolean;

/** Both sides are known and of one type. */
const COMPARES: Readonly<Record<string, Compare>> = {
  '>': (left, right) => (left ?? 0) > (right ?? 0),
  '>=': (left, right) => (left ?? 0) >= (right ?? 0),
  '<': (left, right) => (left ?? 0) < (right ?? 0),
  '<=': (left, right) => (left ?? 0) <= (right ?? 0),
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
};

const never: Compare = () => false;
