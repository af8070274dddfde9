// Detects the encoding of a text from all of its bytes. A text that is not UTF-8 is transcoded to UTF-8; one
// of unknown encoding is refused with the byte and the line.
import { isAscii, isUtf8 } from 'node:buffer';
import { createReadStream, createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure, toDiskFullFailure } from '../../store/base/failure.ts';
import { readPieces } from './pieces.ts';
import type { Encoding } from './reading.ts';

/** Bytes read and inspected per turn of the event loop: 8 ms where each byte is a line break. */
const PIECE_BYTES = 256 * 1024;
/** Bytes per piece where each line is inspected separately. */
const LINES_BYTES = 64 * 1024;
/** Bytes of the head from which UTF-16 is detected without a mark. */
const SAMPLE_BYTES = 4096;

/** Properties of a text that take a scan of all its bytes. */
export interface TextScan {
  readonly isUtf8: boolean;
  readonly hasNul: boolean;
  /** Lines end in more than one way, inside quotes or outside. */
  readonly mixedEnds: boolean;
  /** It has no `_`, `e-` and `E-`, which a number may have that casts read too widely (exactText.ts). */
  readonly hasPlainNumbers: boolean;
}

/** An encoding that the body does not declare, with its reason; a mark declares one and has none. */
interface DetectedEncoding {
  readonly encoding: Encoding;
  readonly why?: string;
}

/** Detects UTF-16 by its mark, or by the zeros of western text. @throws Failure for UTF-32. */
export function detectWideEncoding(head: Buffer): DetectedEncoding | undefined {
  const mark = head.toString('latin1', 0, 4);
  if (mark === '\xFF\xFE\0\0' || mark === '\0\0\xFE\xFF') {
    throw new Failure('InvalidBody', 'the body is UTF-32: write it as UTF-8');
  }
  if (mark.startsWith('\xFF\xFE')) return { encoding: 'utf-16le' };
  if (mark.startsWith('\xFE\xFF')) return { encoding: 'utf-16be' };
  const sample = head.subarray(0, Math.min(SAMPLE_BYTES, head.length & ~1));
  if (sample.length < 8 || sample.some((byte) => byte > 0 && byte < 9)) return undefined;
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries())
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros.map((count) => count / (sample.length / 2));
  const why = 'every other byte is zero and there is no byte order mark';
  if (odd > 0.7 && even < 0.05) return { encoding: 'utf-16le', why };
  return even > 0.7 && odd < 0.05 ? { encoding: 'utf-16be', why } : undefined;
}

export async function scanText(path: string): Promise<TextScan> {
  let valid = true;
  let hasNul = false;
  let hasPlainNumbers = true;
  let [pairs, breaks, returns] = [0, 0, 0];
  let rest: Buffer = Buffer.alloc(0);
  let last = 0;
  for await (const piece of readPieces(path, PIECE_BYTES)) {
    hasNul ||= piece.includes(0);
    hasPlainNumbers &&=
      last !== E_SMALL &&
      last !== E_LARGE &&
      !WIDE_NUMBER_SIGNS.some((sign) => piece.includes(sign));
    if (valid) {
      const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
      const whole = wholeCharacters(bytes);
      valid = isUtf8(bytes.subarray(0, whole));
      rest = Buffer.from(bytes.subarray(whole));
    }
    if (returns > 0 || piece.includes(RETURN)) {
      const ends = endsIn(piece, last);
      pairs += ends.pairs;
      breaks += ends.breaks;
      returns += ends.returns;
    } else breaks += Number(piece.includes(BREAK));
    last = piece.at(-1) ?? last;
  }
  const mixedEnds = returns > 0 && !(returns === pairs && breaks === pairs) && breaks > 0;
  return { isUtf8: valid && rest.length === 0, hasNul, mixedEnds, hasPlainNumbers };
}

const WIDE_NUMBER_SIGNS = ['_', 'e-', 'E-'].map((sign) => Buffer.from(sign));
/** An `e` at the end of a piece may continue in the next. */
const [E_SMALL, E_LARGE] = [101, 69] as const;

const BREAK = 10;
const RETURN = 13;

/** Counts carriage returns, line feeds, and their pairs. */
function endsIn(piece: Buffer, before: number) {
  const ends = { pairs: before === RETURN && piece[0] === BREAK ? 1 : 0, breaks: 0, returns: 0 };
  for (let at = piece.indexOf(BREAK); at >= 0; at = piece.indexOf(BREAK, at + 1)) {
    ends.breaks += 1;
    if (at > 0 && piece[at - 1] === RETURN) ends.pairs += 1;
  }
  for (let at = piece.indexOf(RETURN); at >= 0; at = piece.indexOf(RETURN, at + 1))
    ends.returns += 1;
  return ends;
}

/** Counts the bytes before a character that is cut off at the end. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/**
 * The encoding of a text that is not UTF-8: Windows-1252, a superset of Latin-1, unless its bytes
 * contradict that.
 * @throws Failure InvalidBody naming the byte, the line, and the option to set.
 */
export async function detectNarrowEncoding(path: string): Promise<DetectedEncoding> {
  let line = 0;
  let narrow: string | undefined;
  let wide: number | undefined;
  for await (const lines of linesOf(path)) {
    for (const bytes of lines) {
      line += 1;
      if (isAscii(bytes)) continue;
      if (isUtf8(bytes)) wide ??= line;
      else {
        const description = describeNarrow(bytes, line);
        narrow ??= description;
      }
      if (narrow !== undefined && wide !== undefined) {
        throw unknownEncoding(`${narrow}, and line ${wide} is`);
      }
    }
  }
  const why = narrow ?? 'the bytes are no UTF-8';
  return { encoding: 'windows-1252', why };
}

/** The note on an encoding that was guessed; none if the bytes declare it. */
export const describeEncoding = ({ encoding, why }: DetectedEncoding): readonly string[] => {
  const declare = 'if it is another, pass encoding=, such as encoding=windows-1250';
  return why === undefined
    ? []
    : [`inferred encoding: ${encoding}, because ${why}; ${declare} (--encoding windows-1250)`];
};

/** @throws Failure InvalidBody where the bytes are not Windows-1252 either. */
function describeNarrow(bytes: Buffer, line: number): string {
  const text = bytes.toString('latin1');
  const odd = NEVER.exec(text) ?? MANY.exec(text);
  const at = odd?.index ?? text.search(/[\x80-\xFF]/);
  const byte = `byte 0x${(bytes[at] ?? 0).toString(16).toUpperCase().padStart(2, '0')}`;
  const description = `${byte} in line ${line} is no UTF-8`;
  if (odd !== null) throw unknownEncoding(description);
  return description;
}

/** Bytes without a meaning in Windows-1252, and control characters. */
const NEVER = /[\x00-\x08\x0E-\x19\x1B-\x1F\x7F\x81\x8D\x8F\x90\x9D]/;
/** Western words have no such run of accented letters: this is Cyrillic, Greek or Chinese. */
const MANY = /[\xC0-\xFF]{4}/;

const unknownEncoding = (why: string): Failure =>
  new Failure(
    'InvalidBody',
    `the encoding of the body is unknown: ${why}; ` +
      'pass encoding=windows-1252 (--encoding windows-1252) or another',
  );

/** Yields the lines of a piece together: a turn per line took a second for a file of short lines. */
async function* linesOf(path: string): AsyncGenerator<readonly Buffer[]> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of readPieces(path, LINES_BYTES)) {
    const bytes = Buffer.concat([rest, piece]);
    const lines: Buffer[] = [];
    let from = 0;
    for (let at = bytes.indexOf(BREAK); at >= 0; at = bytes.indexOf(BREAK, from)) {
      lines.push(bytes.subarray(from, at));
      from = at + 1;
    }
    rest = bytes.subarray(from);
    // Bytes without a line break are inspected as one line.
    if (rest.length > PIECE_BYTES) {
      lines.push(rest);
      rest = Buffer.alloc(0);
    }
    yield lines;
  }
  if (rest.length > 0) yield [rest];
}

/** Describes where the first NUL byte of a text is. */
export async function describeNul(path: string): Promise<string> {
  let line = 1;
  for await (const piece of readPieces(path, PIECE_BYTES)) {
    const nul = piece.indexOf(0);
    line += endsIn(nul < 0 ? piece : piece.subarray(0, nul), 0).breaks;
    if (nul >= 0) break;
  }
  const what = `the body is no text: line ${line} holds NUL bytes`;
  return `${what}; pass encoding=utf-16le (--encoding utf-16le) if it is UTF-16`;
}

/** Writes the text as UTF-8. @throws Failure InvalidBody where a byte does not fit the encoding. */
export async function writeUtf8(from: string, encoding: Encoding, to: string): Promise<void> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let bytes = 0;
  const decode = (chunk: Buffer | undefined): string => {
    try {
      const options = { stream: chunk !== undefined };
      const text = chunk === undefined ? decoder.decode() : decoder.decode(chunk, options);
      bytes += chunk?.length ?? 0;
      return text;
    } catch {
      const rule = `the body is no ${encoding}: see bytes ${bytes} and after`;
      throw new Failure('InvalidBody', rule);
    }
  };
  const transform = new Transform({
    decodeStrings: true,
    transform(chunk: Buffer, _encoding, done) {
      try {
        done(null, decode(chunk));
      } catch (error) {
        done(error as Error);
      }
    },
    flush(done) {
      try {
        done(null, decode(undefined));
      } catch (error) {
        done(error as Error);
      }
    },
  });
  try {
    await pipeline(createReadStream(from), transform, createWriteStream(to, { mode: 0o600 }));
  } catch (error) {
    throw error instanceof Failure ? error : toDiskFullFailure(error);
  }
}
