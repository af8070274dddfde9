// How a JSON file spells its records, as a pattern made of its sample. Where every record keeps to it,
// what read_json alone would pass over in silence is ruled out (members that it was not asked for and
// `null` for a record; true, 12.75 and long digits for an integer), so that it may read values typed.
import type { ColumnType } from '../../store/lake/versions/columns.ts';
import type { Inferred } from './infer.ts';

/** What every value of a member is that is not null: `scalar` is a text, or any of the others. */
export type Spelled = 'integer' | 'number' | 'boolean' | 'date' | 'scalar';

/**
 * Members that a pattern may have: RE2 has memory for so many states and no more. On a core beside
 * other work it matched 115 MB/s with 30 members and with 60, 45 with 100, 30 with 150.
 */
export const MEMBERS_MAX = 60;
/** RE2 refuses a pattern of some hundred thousand steps; a name may have any length here. */
const PATTERN_MAX = 20_000;

const DIGITS = String.raw`-?\d{1,18}`;
const NUMBER = String.raw`${DIGITS}(?:\.\d+)?(?:[eE][+-]?\d{1,2})?`;
const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;

/** As RE2 patterns. 18 digits always fit 64 bits, and with an exponent of two digits a double. */
const VALUES: Readonly<Record<Spelled, string>> = {
  integer: DIGITS,
  number: NUMBER,
  boolean: 'true|false',
  date: String.raw`"\d{4}-\d\d-\d\d"`,
  scalar: `${TEXT}|${NUMBER}|true|false`,
};

/** Undefined for objects and arrays: no pattern knows where they end. */
export function spelledAs({ property, spelling }: Inferred): Spelled | undefined {
  const { type } = property;
  if (type === 'object' || type === 'array') return undefined;
  if (type !== 'string') return type;
  return spelling?.read.kind === 'cast' && !spelling.time ? 'date' : 'scalar';
}

/**
 * What a whole record matches that is an object of some of these members, each at most once and in
 * one order, every value null or as it is spelled; of a text that is JSON nothing else matches.
 * Undefined where the lists keep to no order, or a member has values that no pattern knows.
 * @param lists names of some records' members, in their order
 */
export function spellingPattern(
  lists: readonly (readonly string[])[],
  spelled: ReadonlyMap<string, Spelled | undefined>,
): string | undefined {
  const order = commonOrder(lists);
  if (order === undefined) return undefined;
  const parts: string[] = [];
  for (const name of order) {
    const as = spelled.get(name);
    if (as === undefined) return undefined;
    const key = JSON.stringify(name).replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
    parts.push(String.raw`(?:,?\s*${key}\s*:\s*(?:${VALUES[as]}|null)\s*)?`);
  }
  const pattern = String.raw`\s*\{\s*${parts.join('')}\}\s*`;
  return pattern.length > PATTERN_MAX ? undefined : pattern;
}

/** An order of all names that every list keeps to; undefined where there is none to be seen. */
function commonOrder(lists: readonly (readonly string[])[]): readonly string[] | undefined {
  const distinct = [...new Map(lists.map((list) => [JSON.stringify(list), list])).values()];
  const order: string[] = [];
  for (const list of distinct) {
    // A new name comes right behind the one that it follows.
    let at = 0;
    for (const name of list) {
      const known = order.indexOf(name);
      if (known < 0) order.splice(at, 0, name);
      at = (known < 0 ? at : known) + 1;
    }
  }
  const places = new Map(order.map((name, at) => [name, at]));
  const keeps = (list: readonly string[]): boolean =>
    list.every((name, at) => {
      const before = list[at - 1];
      return before === undefined || (places.get(before) ?? 0) < (places.get(name) ?? 0);
    });
  return distinct.every(keeps) ? order : undefined;
}

/** Begins a text in the place of a record that its file has not as one; the reason follows. */
export const FAULT_MARK = '\u0001fault: ';

/** Types whose values read_json makes of what is so spelled as `castText` makes them of its text. */
export const READ_TYPED: Readonly<Record<Spelled, readonly ColumnType[]>> = {
  integer: ['int64'],
  number: ['float64'],
  boolean: ['boolean'],
  date: ['date'],
  scalar: [],
};
