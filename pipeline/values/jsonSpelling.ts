// Describes how a JSON file spells its records, as a pattern built from its sample. If every record matches,
// inputs that read_json would silently ignore are ruled out (members that were not requested and
// `null` for a record; true, 12.75 and long digits for an integer), so that it may read typed values.
import type { ColumnType } from '../../store/lake/versions/columns.ts';
import type { Inferred } from './infer.ts';

/** The spelling of every value of a member that is not null: `scalar` is a text, or any of the others. */
export type Spelled = 'integer' | 'number' | 'boolean' | 'date' | 'scalar';

/**
 * Maximum members of a pattern: RE2 has memory for a limited number of states. On a core shared with
 * other work it matched 115 MB/s with 30 members and with 60, 45 with 100, 30 with 150.
 */
export const MEMBERS_MAX = 60;
/** RE2 refuses a pattern of some hundred thousand steps; names have no length limit here. */
const PATTERN_MAX = 20_000;

const DIGITS = String.raw`-?\d{1,18}`;
/** Decimals of any length: `roundedTest` finds those that a double rounds. */
const NUMBER = String.raw`-?(?:\d{1,15}|\d{1,18}\.\d+)(?:[eE][+-]?\d{1,2})?`;
/** At most 15 digits, which every double keeps. */
const SHORT = String.raw`-?(?:\d{1,5}(?:\.\d{1,10})?|\d{6,9}(?:\.\d{1,6})?|\d{10,15})(?:[eE][+-]?\d{1,2})?`;
const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;

/** RE2 patterns. 18 digits always fit 64 bits, and with an exponent of two digits a double. */
const VALUES: Readonly<Record<Spelled, string>> = {
  integer: DIGITS,
  number: NUMBER,
  boolean: 'true|false',
  date: String.raw`"\d{4}-\d\d-\d\d"`,
  scalar: `${TEXT}|${DIGITS}|${NUMBER}|true|false`,
};

/** Undefined for objects and arrays: a pattern cannot find their end. */
export function findJsonSpelling({ property, spelling }: Inferred): Spelled | undefined {
  const { type } = property;
  if (type === 'object' || type === 'array') return undefined;
  if (type !== 'string') return type;
  return spelling?.read.kind === 'cast' && !spelling.time ? 'date' : 'scalar';
}

/**
 * A pattern that matches a whole record: an object of some of these members, each at most once and in
 * one order, every value null or in its spelling. Among valid JSON texts nothing else matches.
 * Undefined if the lists have no common order, or a member has values without a pattern.
 * @param lists names of some records' members, in their order
 * @param hasLongNumbers numbers may have more than 15 digits: a double may round them
 */
export function spellingPattern(
  lists: readonly (readonly string[])[],
  spelled: ReadonlyMap<string, Spelled | undefined>,
  hasLongNumbers = false,
): string | undefined {
  const order = commonOrder(lists);
  if (order === undefined) return undefined;
  const parts: string[] = [];
  for (const name of order) {
    const as = spelled.get(name);
    if (as === undefined) return undefined;
    const key = JSON.stringify(name).replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
    const value = hasLongNumbers ? VALUES[as] : VALUES[as].replace(NUMBER, SHORT);
    parts.push(String.raw`(?:,?\s*${key}\s*:\s*(?:${value}|null)\s*)?`);
  }
  const pattern = String.raw`\s*\{\s*${parts.join('')}\}\s*`;
  return pattern.length > PATTERN_MAX ? undefined : pattern;
}

/** An order of all names that every list follows; undefined if none is found. */
function commonOrder(lists: readonly (readonly string[])[]): readonly string[] | undefined {
  const distinct = [...new Map(lists.map((list) => [JSON.stringify(list), list])).values()];
  const order: string[] = [];
  for (const list of distinct) {
    // A new name is inserted directly after the one that it follows.
    let at = 0;
    for (const name of list) {
      const position = order.indexOf(name);
      if (position < 0) order.splice(at, 0, name);
      at = (position < 0 ? at : position) + 1;
    }
  }
  const places = new Map(order.map((name, at) => [name, at]));
  const follows = (list: readonly string[]): boolean =>
    list.every((name, at) => {
      const before = list[at - 1];
      return before === undefined || (places.get(before) ?? 0) < (places.get(name) ?? 0);
    });
  return distinct.every(follows) ? order : undefined;
}

/** Begins a text in place of a record that could not be read; the reason follows. */
export const FAULT_MARK = '\u0001fault: ';

/** Types for which read_json converts values of this spelling exactly like `castText`. */
export const READ_TYPED: Readonly<Record<Spelled, readonly ColumnType[]>> = {
  integer: ['int64'],
  number: ['float64'],
  boolean: ['boolean'],
  date: ['date'],
  scalar: [],
};
