// Writes JSON lines from slices of a text without changes: digits, order and escapes are kept.
import { closeSync, openSync, writeSync } from 'node:fs';
import { Failure } from '../../../store/base/failure.ts';
import { FAULT_MARK } from '../../values/jsonSpelling.ts';
import type { JsonText, Slice } from './jsonText.ts';

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

  /** Appends a slice on one line; NaN and infinities, the last ones of the text, become null. */
  appendSlice(text: JsonText, { end, start }: Slice): void {
    const { bytes, nonNumbers } = text;
    let first = nonNumbers.length;
    while (first > 0 && (nonNumbers[first - 1]?.start ?? 0) >= start) first -= 1;
    let from = start;
    for (const none of nonNumbers.slice(first)) {
      if (none.start >= end) break;
      this.append(onOneLine(bytes.subarray(from, none.start)));
      this.append('null');
      from = none.end;
    }
    this.append(onOneLine(bytes.subarray(from, end)));
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

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
}

/** Replaces line breaks: raw ones occur only between the tokens of JSON. */
function onOneLine(bytes: Buffer): Buffer {
  if (bytes.indexOf(BREAK) < 0 && bytes.indexOf(RETURN) < 0) return bytes;
  return Buffer.from(bytes.map((byte) => (byte === BREAK || byte === RETURN ? SPACE : byte)));
}
