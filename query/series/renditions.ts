// Numbers the ways to render a record, so that each read finds its series by a short key.
import type { Member } from '../plan/seriesMembers.ts';

const RENDITIONS_MAX = 10_000;
const numbers = new Map<string, number>();
const numbersOfMembers = new WeakMap<readonly Member[], number>();
let lastNumber = 0;

/** Returns the same number for equal members; above `RENDITIONS_MAX` all are renumbered. */
export function renditionOf(members: readonly Member[]): number {
  const cached = numbersOfMembers.get(members);
  if (cached !== undefined) return cached;
  const text = JSON.stringify(members);
  if (numbers.size >= RENDITIONS_MAX) numbers.clear();
  const number = numbers.get(text) ?? (lastNumber += 1);
  numbers.set(text, number);
  numbersOfMembers.set(members, number);
  return number;
}
