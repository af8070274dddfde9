// The outline of a JSON document: its objects and lists, their lengths, and their first elements.
import type { JsonText, Slice } from './jsonText.ts';

/** Depth of nested objects in the outline; deeper values are only scanned. */
const LEVELS = 5;
/** Members of an object in the outline. */
const MEMBERS_MAX = 60;

export interface Sketch extends Slice {
  readonly kind: 'object' | 'list' | 'text' | 'scalar' | 'null';
  /** All members of an object, or elements of a list. */
  readonly count: number;
  /** The first members of an object. */
  readonly members: readonly Member[];
  /** The first element of a list. */
  readonly first: Sketch | undefined;
  /** Whether no element of a list is a list or an object. */
  readonly isFlat: boolean;
}

export interface Member {
  readonly name: string;
  readonly value: Sketch;
}

/** @param text positioned at a value; advanced to its end */
export function sketchValue(text: JsonText, level = 0): Sketch {
  const byte = text.peek();
  const start = text.at;
  const bare = { count: 0, members: [], first: undefined, isFlat: true } as const;
  if (byte === 0x7b && level < LEVELS) {
    const members: Member[] = [];
    const names = text.scanObject(level, (name) => {
      if (members.length === MEMBERS_MAX) return;
      const read = text.readText(name);
      members.push({ name: read, value: sketchValue(text, level + 1) });
    });
    return { ...bare, kind: 'object', start, end: text.at, count: names.length, members };
  }
  if (byte === 0x5b && level < LEVELS) {
    let first: Sketch | undefined;
    let isFlat = true;
    const count = text.scanList(level, (index) => {
      const opening = text.bytes[text.at];
      isFlat &&= opening !== 0x7b && opening !== 0x5b;
      if (index === 0) first = sketchValue(text, level + 1);
    });
    return { ...bare, kind: 'list', start, end: text.at, count, first, isFlat };
  }
  text.scanValue(level);
  const kind = KINDS[byte ?? 0] ?? 'scalar';
  return { ...bare, kind, start, end: text.at };
}

const KINDS: Readonly<Record<number, Sketch['kind']>> = {
  0x7b: 'object',
  0x5b: 'list',
  0x22: 'text',
  0x6e: 'null',
};
