// Detects what the value of a JSON text hides: `JSON.parse` keeps the last value of a repeated member, and
// accepts a depth at which writing the value again overflows the stack.
import { isExactDigits } from '../../store/base/exactJson.ts';

/** Depth of nested objects and lists. */
export const DEPTH_MAX = 1_000;

export const TOO_DEEP = `objects and lists over ${DEPTH_MAX} deep`;

/** @param value of the JSON text */
export function findHiddenFault(text: string, value: unknown): string | undefined {
  let names = countNames(text);
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEPTH_MAX) return TOO_DEEP;
    const below: unknown[] = [];
    for (const one of level) {
      if (typeof one !== 'object' || one === null || isExactDigits(one)) continue;
      const values: readonly unknown[] = Object.values(one);
      if (!Array.isArray(one)) names -= values.length;
      for (const inner of values) if (typeof inner === 'object') below.push(inner);
    }
    level = below;
  }
  return names === 0 ? undefined : 'a member for the second time';
}

const SPACES = ' \t\r\n';

/** Counts the texts of a JSON text that a colon follows. */
function countNames(text: string): number {
  let count = 0;
  for (let open = text.indexOf('"'); open >= 0;) {
    let at = open + 1;
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    at += 1;
    while (at < text.length && SPACES.includes(text[at] ?? '')) at += 1;
    if (text[at] === ':') count += 1;
    open = text.indexOf('"', at);
  }
  return count;
}
