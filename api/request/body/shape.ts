// Checks depth and number of values of JSON before it is parsed, in one pass over its bytes. Without this
// check a short text of brackets becomes a million objects, or overflows the stack of a recursive reader.
import { DEPTH_MAX } from '../../../reads/request/bodyLimits.ts';

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c] as const;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const;
const SPACES: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Finds a fault of the shape; undefined also for a text that is neither list nor object. */
export function findShapeFault(bytes: Uint8Array, valuesMax: number): string | undefined {
  const start = bytes.findIndex((byte) => !SPACES.has(byte));
  if (bytes[start] !== OPEN_LIST && bytes[start] !== OPEN_OBJECT) return undefined;
  let [depth, values] = [0, 0];
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = findTextEnd(bytes, at);
    } else if (byte === COMMA) {
      values += 1;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values += 1;
      depth += 1;
      if (depth > DEPTH_MAX) return `the body is nested more than ${DEPTH_MAX} levels deep`;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1;
    }
    if (values > valuesMax) return `the body has more than ${valuesMax} values`;
  }
  return undefined;
}

/** Index of the closing quote of the text that opens at `start`. */
function findTextEnd(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
