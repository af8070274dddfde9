// Compiles conditions into one function of values: each condition reads list positions and compares.
import { lookupTable } from '../../store/base/lookupTable.ts';
import type { Condition, Literal } from './conditions.ts';
import { isWithin, parseSpan } from './sessionTime.ts';

type Value = Literal | null | undefined;

/** Current values by position; undefined and null are unknown. */
export interface CurrentValues {
  /** Values of the symbol for which the rule is evaluated. */
  readonly own: readonly Value[];
  /** Values of named records, the same for every symbol. */
  readonly shared: readonly Value[];
}

/** The position of a name's values. */
export interface Place {
  readonly of: keyof CurrentValues;
  readonly at: number;
}

/** @param secondOfDay seconds since midnight in the exchange's zone */
export type Test = (values: CurrentValues, secondOfDay: number) => boolean;

export type Match = 'any' | 'all';

type PlaceOf = (name: string) => Place;

export function compile(conditions: readonly Condition[], match: Match, placeOf: PlaceOf): Test {
  const tests = conditions.map((condition) => compileCondition(condition, placeOf));
  const [first] = tests;
  if (tests.length === 1 && first !== undefined) return first;
  const [, second] = tests;
  if (tests.length === 2 && first !== undefined && second !== undefined) {
    return match === 'any'
      ? (values, at) => first(values, at) || second(values, at)
      : (values, at) => first(values, at) && second(values, at);
  }
  return match === 'any'
    ? (values, second) => {
        for (const test of tests) if (test(values, second)) return true;
        return false;
      }
    : (values, second) => {
        for (const test of tests) if (!test(values, second)) return false;
        return true;
      };
}

/** Compiles one condition; also used to report why a rule did not pass. */
export function compileCondition(condition: Condition, placeOf: PlaceOf): Test {
  const { kind, name, operator, right } = condition;
  if (kind === 'time') {
    const span = 'literal' in right ? parseSpan(String(right.literal)) : undefined;
    return (_values, second) => span !== undefined && isWithin(span, second);
  }
  const { at, of } = placeOf(name);
  if (kind === 'event') {
    const expected = 'literal' in right && right.literal === true;
    return (values) => (values[of][at] === true) === expected;
  }
  const isRight = COMPARES[TRUTHS.includes(operator) ? '==' : operator] ?? never;
  const type = kind === 'number' || kind === 'boolean' ? kind : 'string';
  if ('name' in right) {
    const other = placeOf(right.name);
    return (values) => {
      const [left, compared] = [values[of][at], values[other.of][other.at]];
      return typeof left === type && typeof compared === type && isRight(left, compared);
    };
  }
  const { literal } = right;
  // Fast paths for nearly every condition, without a nested call.
  if (operator === '>' && of === 'own') {
    return ({ own }) => typeof own[at] === type && (own[at] ?? 0) > literal;
  }
  if (operator === '<' && of === 'own') {
    return ({ own }) => typeof own[at] === type && (own[at] ?? 0) < literal;
  }
  return (values) => typeof values[of][at] === type && isRight(values[of][at], literal);
}

const TRUTHS = ['true', 'false'];

type Compare = (left: Value, right: Value) => boolean;

/** Both sides are known and of one type. */
const COMPARES = lookupTable<Compare>({
  '>': (left, right) => (left ?? 0) > (right ?? 0),
  '>=': (left, right) => (left ?? 0) >= (right ?? 0),
  '<': (left, right) => (left ?? 0) < (right ?? 0),
  '<=': (left, right) => (left ?? 0) <= (right ?? 0),
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
});

const never: Compare = () => false;
