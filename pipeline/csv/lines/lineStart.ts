// Finds the byte where a line of a file begins.
import { createReadStream } from 'node:fs';

/** The byte after the first `skip` lines. They are in the head, so the read ends early. */
export async function findLineStart(path: string, skip: number): Promise<number> {
  if (skip === 0) return 0;
  let [lines, at] = [0, 0];
  let wasReturn = false;
  for await (const piece of createReadStream(path)) {
    for (const byte of piece as Buffer) {
      if (lines === skip && !(wasReturn && byte === 10)) return at;
      if (byte === 13 || (byte === 10 && !wasReturn)) lines += 1;
      wasReturn = byte === 13;
      at += 1;
    }
  }
  return at;
}
