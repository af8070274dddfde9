// Numbers the ways to render a record, so that a series is looked up by a short name at every read.
import type { Member } from '../plan/seriesMembers.ts';

const RENDITIONS_MAX = 10_000;
const numbers = new Map<string, number>();
const numbersOfMembers = new WeakMap<readonly Member[], number>();
let lastNumber = 0;

/** The same number for equal members; past `RENDITIONS_MAX` of them all are numbered anew. */
export function renditionOf(members: readonly Member[]): number {
  const known = numbersOfMembers.get(members);
  if (known !== undefined) return known;
  const text = JSON.stringify(members);
  if (numbers.size >= RENDITIONS_MAX) numbers.clear();
  const number = numbers.get(text) ?? (lastNumber += 1);
  numbers.set(text, number);
  numbersOfMembers.set(members, number);
  return number;
}
