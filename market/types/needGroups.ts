// Groups needs into shared reads: one for each input and window, with all keys. Each need is cut out of the
// shared rows again, so that surplus rows never appear in an answer.
import type { Row } from '../derive/values.ts';
import type { Need, Window } from './typeRequest.ts';

/** Records of some keys, read by one plan. */
export interface ReadGroup {
  readonly input: Need['input'];
  /** Empty if the records of the input belong to no symbol. */
  readonly keys: readonly string[];
  readonly window: Window;
}

/** Minimum number of latest records to read, so that other types can reuse them. */
const MIN_COUNTS: Readonly<Partial<Record<Need['input'], number>>> = { HISTORICAL_PRICES: 270 };

/** The name of the group that has the records of a need. */
export function buildGroupName({ input, window }: Need): string {
  if (window.kind === 'newest') return `${input} newest ${effectiveCount(input, window.count)}`;
  if (window.kind === 'at') return `${input} at ${window.day}`;
  if (window.kind === 'oldest') return `${input} oldest`;
  if (window.kind === 'page') {
    const { count, from, offset, to } = window;
    return `${input} ${from} to ${to}, ${count} from ${offset}`;
  }
  return `${input} ${window.from ?? ''} to ${window.to ?? ''}`;
}

const effectiveCount = (input: Need['input'], count: number): number =>
  Math.max(count, MIN_COUNTS[input] ?? 1);

export function groupNeeds(needs: readonly Need[]): ReadonlyMap<string, ReadGroup> {
  const groups = new Map<string, { readonly group: ReadGroup; readonly keys: Set<string> }>();
  for (const need of needs) {
    const { input, key, window } = need;
    const name = buildGroupName(need);
    const entry = groups.get(name) ?? {
      group: { input, keys: [], window: widenWindow(input, window) },
      keys: new Set<string>(),
    };
    if (key !== '') entry.keys.add(key);
    groups.set(name, entry);
  }
  return new Map(
    [...groups].map(([name, { group, keys }]) => [name, { ...group, keys: [...keys] }]),
  );
}

const widenWindow = (input: Need['input'], window: Window): Window =>
  window.kind === 'newest'
    ? { kind: 'newest', count: effectiveCount(input, window.count) }
    : window;

/** Selects the records that a need requested from a key's records in a group. */
export function selectNeededRows(rows: readonly Row[], { window }: Need): readonly Row[] {
  // The same records stay the same array: values computed from them are cached by its identity.
  return window.kind === 'newest' && rows.length > window.count
    ? rows.slice(rows.length - window.count)
    : rows;
}
