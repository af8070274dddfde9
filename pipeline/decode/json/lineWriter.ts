// Writes JSON lines from slices of a text without changes: digits, order and escapes are kept.
import { closeSync, openSync, writeSync } from 'node:fs';
import { Failure } from '../../../store/base/failure.ts';
import { numberText } from '../../values/jsonDigits.ts';
import { FAULT_MARK } from '../../values/jsonSpelling.ts';
import type { JsonText, Respelling, Slice } from './jsonText.ts';

/** Bytes per write. */
const BUFFER_BYTES = 256 * 1024;
/** Maximum bytes of the lines: each record repeats the names, so that few long names could fill a disk. */
const LINES_BYTES_MAX = 1024 ** 3;

const BREAK = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;

export class LineWriter {
  readonly #file: number;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #filled = 0;
  #written = 0;
  /** Lines so far. */
  lines = 0;
  /** Numbers within objects and lists that became texts; the first one with its position. */
  nested = 0;
  firstNested: string | undefined;

  constructor(path: string) {
    this.#file = openSync(path, 'w', 0o600);
  }

  /** @throws Failure InvalidBody above the limit */
  append(piece: string | Buffer): void {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    this.#written += bytes.length;
    if (this.#written > LINES_BYTES_MAX) {
      const rule = `its names with each record are over ${LINES_BYTES_MAX} bytes`;
      throw new Failure('InvalidBody', `jsonPath: ${rule}; leave some of them out of the path`);
    }
    if (bytes.length > BUFFER_BYTES - this.#filled) this.#flush();
    if (bytes.length > BUFFER_BYTES) writeAll(this.#file, bytes);
    else this.#filled += bytes.copy(this.#buffer, this.#filled);
  }

  /**
   * Appends a slice on one line, with the respellings of its text.
   * @param depth of the values of a record: deeper numbers that become texts are counted as `nested`
   */
  appendSlice(text: JsonText, slice: Slice, depth: number): void {
    for (const piece of respell(text, slice, (number) => this.countNested(text, number, depth)))
      this.append(typeof piece === 'string' ? piece : onOneLine(piece));
  }

  /** Counts a number that becomes a text, unless it is the value of a member itself. */
  countNested(text: JsonText, number: Respelling, depth: number): void {
    if (number.depth <= depth) return;
    this.nested += 1;
    this.firstNested ??= text.describe(number);
  }

  endLine(): void {
    this.append('\n');
    this.lines += 1;
  }

  /** Writes a line that is rejected with this reason. */
  writeFault(reason: string): void {
    this.append(JSON.stringify(`${FAULT_MARK}${reason}`));
    this.endLine();
  }

  close(): void {
    try {
      this.#flush();
    } finally {
      closeSync(this.#file);
    }
  }

  #flush(): void {
    if (this.#filled > 0) writeAll(this.#file, this.#buffer.subarray(0, this.#filled));
    this.#filled = 0;
  }
}

/**
 * The parts of a slice with its respellings, which are removed from the text: slices are written in order.
 * @param onText called for each number that becomes a text
 */
export function respell(
  { bytes, respellings }: JsonText,
  { end, start }: Slice,
  onText: (number: Respelling) => void,
): readonly (string | Buffer)[] {
  const pieces: (string | Buffer)[] = [];
  let from = start;
  let count = 0;
  for (const one of respellings) {
    if (one.start >= end) break;
    count += 1;
    if (one.start < start) continue;
    pieces.push(bytes.subarray(from, one.start));
    if (one.as === 'text') onText(one);
    pieces.push(
      one.as === 'null' ? 'null' : numberText(bytes.toString('latin1', one.start, one.end)),
    );
    from = one.end;
  }
  respellings.splice(0, count);
  pieces.push(bytes.subarray(from, end));
  return pieces;
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
}

/** Replaces line breaks: raw ones occur only between the tokens of JSON. */
function onOneLine(bytes: Buffer): Buffer {
  if (bytes.indexOf(BREAK) < 0 && bytes.indexOf(RETURN) < 0) return bytes;
  return Buffer.from(bytes.map((byte) => (byte === BREAK || byte === RETURN ? SPACE : byte)));
}
