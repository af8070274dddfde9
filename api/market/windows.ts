// Reads that serve several needs: for each input and kind of window one, of all keys; what each need
// asked for is cut out of it again, so that what is read besides never shows in an answer.
import { dayIn, type Row } from '../../market/derive/values.ts';
import type { Need, Window } from '../../market/types/ask.ts';

/** Records of some keys, by one plan. */
export interface Group {
  readonly input: Need['input'];
  /** None: the input has records of no symbol. */
  readonly keys: readonly string[];
  readonly window: Window;
}

const kindOf = ({ input, window }: Need): string =>
  window.kind === 'at' ? `${input} at ${window.day}` : `${input} ${window.kind}`;

/** Which group has the records of a need. */
export const groupNameOf = (need: Need): string => kindOf(need);

export function groupsOf(needs: readonly Need[]): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  const keys = new Map<string, Set<string>>();
  for (const need of needs) {
    const name = kindOf(need);
    const known = groups.get(name);
    const window = known === undefined ? need.window : widest(known.window, need.window);
    groups.set(name, { input: need.input, keys: [], window });
    const all = keys.get(name) ?? new Set<string>();
    keys.set(name, need.key === '' ? all : all.add(need.key));
  }
  return new Map(
    [...groups].map(([name, group]) => [name, { ...group, keys: [...(keys.get(name) ?? [])] }]),
  );
}

/** One window that has the records of both; they are of one kind. */
function widest(one: Window, other: Window): Window {
  if (one.kind === 'newest' && other.kind === 'newest') {
    return { kind: 'newest', count: Math.max(one.count, other.count) };
  }
  if (one.kind !== 'days' || other.kind !== 'days') return one;
  const from =
    one.from === undefined || other.from === undefined ? undefined : first(one.from, other.from);
  const to = one.to === undefined || other.to === undefined ? undefined : later(one.to, other.to);
  return { kind: 'days', from, to };
}

const first = (one: string, other: string): string => (one < other ? one : other);
const later = (one: string, other: string): string => (one > other ? one : other);

/** Of a key's records in a group those that a need asked for. */
export function cutOf(rows: readonly Row[], { input, window }: Need): readonly Row[] {
  if (window.kind === 'newest') return rows.slice(Math.max(0, rows.length - window.count));
  if (window.kind !== 'days') return rows;
  const { from, to } = window;
  if (from === undefined && to === undefined) return rows;
  const name = DATES[input] ?? 'date';
  return rows.filter((row) => {
    const day = dayIn(row, name);
    return (from === undefined || day >= from) && (to === undefined || day <= to);
  });
}

const DATES: Readonly<Partial<Record<Need['input'], string>>> = {
  SPLITS: 'exDate',
  DIVIDENDS: 'exDate',
  SYMBOLS: 'validFrom',
  TRADES: 'time',
  QUOTES: 'time',
};
