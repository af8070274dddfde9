// Stores conditions that compare numbers of the rule's own symbol with plain numbers, as nearly all do, in
// one array. With a function for each, ten thousand rules were scattered all over the memory.
import type { CurrentValues, Match, Place } from './compiled.ts';
import type { Condition } from './conditions.ts';

const OPERATORS: readonly string[] = ['>', '>=', '<', '<=', '==', '!='];
/** Numbers of one condition: the position of its value, its operator, its right side. */
const WIDTH = 3;
/** Initial capacity in numbers; it doubles when full. */
const ROOM = 3_000;

/** The position of one rule's conditions. */
export interface PlainRule {
  readonly from: number;
  /** The end, exclusive. */
  readonly to: number;
  readonly isAny: boolean;
}

export class PlainConditions {
  #numbers = new Float64Array(ROOM);
  #used = 0;
  /** Starts of removed rules, by how many numbers they had. */
  readonly #free = new Map<number, number[]>();

  /** Returns undefined if any condition is not plain. */
  add(
    conditions: readonly Condition[],
    match: Match,
    placeOf: (name: string) => Place,
  ): PlainRule | undefined {
    const numbers = conditions.flatMap((condition) => numbersOf(condition, placeOf) ?? []);
    const length = conditions.length * WIDTH;
    if (numbers.length < length) return undefined;
    const from = this.#free.get(length)?.pop() ?? this.#room(length);
    this.#numbers.set(numbers, from);
    return { from, to: from + length, isAny: match === 'any' };
  }

  remove({ from, to }: PlainRule): void {
    const freeStarts = this.#free.get(to - from) ?? [];
    freeStarts.push(from);
    this.#free.set(to - from, freeStarts);
  }

  passes({ from, isAny, to }: PlainRule, { own }: CurrentValues): boolean {
    const numbers = this.#numbers;
    for (let at = from; at < to; at += WIDTH) {
      const value = own[numbers[at] ?? 0];
      const right = numbers[at + 2] ?? 0;
      if ((typeof value === 'number' && holds(value, numbers[at + 1] ?? 0, right)) === isAny) {
        return isAny;
      }
    }
    return !isAny;
  }

  #room(length: number): number {
    const from = this.#used;
    this.#used += length;
    if (this.#used > this.#numbers.length) {
      const more = new Float64Array(Math.max(this.#used, this.#numbers.length * 2));
      more.set(this.#numbers);
      this.#numbers = more;
    }
    return from;
  }
}

function holds(value: number, operator: number, right: number): boolean {
  if (operator === 0) return value > right;
  if (operator === 1) return value >= right;
  if (operator === 2) return value < right;
  if (operator === 3) return value <= right;
  return operator === 4 ? value === right : value !== right;
}

function numbersOf(
  { kind, name, operator, right }: Condition,
  placeOf: (name: string) => Place,
): readonly number[] | undefined {
  const place = placeOf(name);
  if (kind !== 'number' || place.of !== 'own' || !('literal' in right)) return undefined;
  return [place.at, OPERATORS.indexOf(operator), Number(right.literal)];
}
