// Reads that serve several needs: for each input and window one, of all keys; what each need asked for is
// cut out of it again, so that what is read besides never shows in an answer.
import type { Row } from '../../market/derive/values.ts';
import type { Need, Window } from '../../market/types/ask.ts';

/** Records of some keys, by one plan. */
export interface Group {
  readonly input: Need['input'];
  /** None: the input has records of no symbol. */
  readonly keys: readonly string[];
  readonly window: Window;
}

/** Newest records that are read where fewer are needed: what one type reads serves the next. */
const COUNTS: Readonly<Partial<Record<Need['input'], number>>> = { HISTORICAL_PRICES: 270 };

/** Which group has the records of a need. */
export function groupNameOf({ input, window }: Need): string {
  if (window.kind === 'newest') return `${input} newest ${countOf(input, window.count)}`;
  if (window.kind === 'at') return `${input} at ${window.day}`;
  if (window.kind === 'oldest') return `${input} oldest`;
  if (window.kind === 'page') {
    const { count, from, offset, to } = window;
    return `${input} ${from} to ${to}, ${count} from ${offset}`;
  }
  return `${input} ${window.from ?? ''} to ${window.to ?? ''}`;
}

const countOf = (input: Need['input'], count: number): number =>
  Math.max(count, COUNTS[input] ?? 1);

export function groupsOf(needs: readonly Need[]): ReadonlyMap<string, Group> {
  const groups = new Map<string, { readonly group: Group; readonly keys: Set<string> }>();
  for (const need of needs) {
    const { input, key, window } = need;
    const name = groupNameOf(need);
    const known = groups.get(name) ?? {
      group: { input, keys: [], window: wideOf(input, window) },
      keys: new Set<string>(),
    };
    if (key !== '') known.keys.add(key);
    groups.set(name, known);
  }
  return new Map(
    [...groups].map(([name, { group, keys }]) => [name, { ...group, keys: [...keys] }]),
  );
}

const wideOf = (input: Need['input'], window: Window): Window =>
  window.kind === 'newest' ? { kind: 'newest', count: countOf(input, window.count) } : window;

/** Of a key's records in a group those that a need asked for. */
export function cutOf(rows: readonly Row[], { window }: Need): readonly Row[] {
  // The same records stay the same array: what was computed of them is known by it.
  return window.kind === 'newest' && rows.length > window.count
    ? rows.slice(rows.length - window.count)
    : rows;
}
