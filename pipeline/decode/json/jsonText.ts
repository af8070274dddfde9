// Parses JSON strictly by RFC 8259, and reports the position of a fault. DuckDB silently accepts a comma
// before a bracket, NaN and a repeated member. The parser scans bytes and creates no values, so that digits
// are kept as they are written.
import { DEPTH_MAX, TOO_DEEP } from '../../values/hiddenFaults.ts';
import { fitsDouble } from '../../values/infer.ts';
import { Failure } from '../../../store/base/failure.ts';

export const noValueSentence = (word: string): string => `${word}, which is no JSON value`;

export const oneDocument = (bytes: number): string =>
  `the body is one JSON document of ${bytes} bytes`;

export const unreadableFailure = (reason: string): Failure =>
  new Failure('InvalidBody', `the body is not readable JSON: ${reason}`);

/** A fault of a JSON text, and its position. */
export class JsonFault extends Error {
  readonly at: number;

  constructor(at: number, what: string) {
    super(what);
    this.at = at;
  }
}

/** Bytes from `start` up to `end`. */
export interface Slice {
  readonly start: number;
  readonly end: number;
}

/** A value that is written differently: `null` for no number, a text for a number that a double rounds. */
export interface Respelling extends Slice {
  readonly as: 'null' | 'text';
  /** Objects and lists around it. */
  readonly depth: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

const LITERALS = [Buffer.from('true'), Buffer.from('false'), Buffer.from('null')];
const NON_NUMBER = /^-?(?:nan|inf|infinity)$/i;
const WORD_MAX = 40;

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= ZERO && byte <= NINE;

export class JsonText {
  readonly bytes: Buffer;
  /** The number of its first line. */
  readonly line: number;
  /** The next byte. */
  at: number;
  /** Values to write differently, until they are written; none in an outline. */
  readonly respellings: Respelling[] = [];
  /** Number of such values so far. */
  respelled = 0;
  readonly #keepsRespellings: boolean;
  /** NaN and infinities so far: they are not JSON, but programs write them for missing numbers. */
  nonNumbers = 0;
  /** The first of them. */
  firstNonNumber: Slice | undefined;
  /** Number of values so far, except null, NaN and infinities. */
  values = 0;
  /** The names of the last object at each depth, which are distinct. */
  readonly #distinct: (readonly Slice[])[] = [];

  /** @param keepsRespellings false for an outline: a document may have millions of them */
  constructor(bytes: Buffer, line = 1, keepsRespellings = true) {
    this.bytes = bytes;
    this.line = line;
    this.#keepsRespellings = keepsRespellings;
    this.at = bytes.length >= 3 && bytes.readUIntBE(0, 3) === 0xefbbbf ? 3 : 0;
  }

  skipSpace(): void {
    while (isSpace(this.bytes[this.at])) this.at += 1;
  }

  /** The byte after blanks; undefined at the end. */
  peek(): number | undefined {
    this.skipSpace();
    return this.bytes[this.at];
  }

  /** @throws JsonFault */
  scanValue(depth = 0): void {
    const byte = this.peek();
    if (byte === QUOTE) {
      this.scanText();
      this.values += 1;
    } else if (byte === OPEN_OBJECT) this.scanObject(depth);
    else if (byte === OPEN_LIST) this.scanList(depth);
    else if (byte === MINUS || isDigit(byte)) this.#scanNumber(depth);
    else this.#scanWord(depth);
  }

  /**
   * @param onMember called before each value, which it may scan itself
   * @returns the names, with their quotes
   */
  scanObject(depth: number, onMember?: (name: Slice) => void): readonly Slice[] {
    this.#checkDepth(depth);
    this.at += 1;
    const names: Slice[] = [];
    if (this.peek() === CLOSE_OBJECT) {
      this.at += 1;
      return names;
    }
    const before = this.#distinct[depth] ?? [];
    // Records mostly have the names of the record before, in its order: while they match, each name is new.
    let texts: Set<string> | undefined;
    for (;;) {
      if (this.peek() !== QUOTE) throw this.fault('where a name in double quotes must be');
      const name = this.scanText();
      const like = before[names.length];
      if (texts !== undefined || like === undefined || !this.#areEqual(like, name)) {
        texts ??= new Set(names.map((one) => this.readText(one)));
        const text = this.readText(name);
        if (texts.has(text)) throw this.#repeatedName(name, text);
        texts.add(text);
      }
      names.push(name);
      if (this.peek() !== COLON) throw this.fault('where a colon must be');
      this.at += 1;
      this.skipSpace();
      const start = this.at;
      onMember?.(name);
      if (this.at === start) this.scanValue(depth + 1);
      if (this.#isLast(CLOSE_OBJECT)) break;
    }
    this.#distinct[depth] = names;
    return names;
  }

  /** @param onElement called before each value, which it may scan itself */
  scanList(depth: number, onElement?: (index: number) => void): number {
    this.#checkDepth(depth);
    this.at += 1;
    if (this.peek() === CLOSE_LIST) {
      this.at += 1;
      return 0;
    }
    for (let count = 1; ; count += 1) {
      this.skipSpace();
      const start = this.at;
      onElement?.(count - 1);
      if (this.at === start) this.scanValue(depth + 1);
      if (this.#isLast(CLOSE_LIST)) return count;
    }
  }

  /** @returns its position, with the quotes */
  scanText(): Slice {
    const { bytes } = this;
    const start = this.at;
    let at = start + 1;
    for (;;) {
      const byte = bytes[at];
      if (byte === QUOTE) break;
      if (byte === undefined) throw new JsonFault(start, 'a text without its closing quote');
      if (byte < 0x20) {
        const code = `0x${byte.toString(16).padStart(2, '0')}`;
        throw new JsonFault(at, `a control character (${code}) in a text: write it as an escape`);
      }
      at = byte === BACKSLASH ? this.#skipEscape(at) : at + 1;
    }
    this.at = at + 1;
    return { start, end: this.at };
  }

  /** The text of a slice with quotes. */
  readText({ end, start }: Slice): string {
    return JSON.parse(this.bytes.toString('utf8', start, end)) as string;
  }

  /** Describes the next byte and why it is a fault. */
  fault(why: string): JsonFault {
    this.skipSpace();
    return new JsonFault(this.at, `${this.#describe()} ${why}`);
  }

  /** True after the last member or element; false after a comma. */
  #isLast(close: number): boolean {
    const byte = this.peek();
    if (byte === close) {
      this.at += 1;
      return true;
    }
    const bracket = close === CLOSE_LIST ? ']' : '}';
    if (byte !== COMMA) throw this.fault(`where a comma or ${bracket} must be`);
    const comma = this.at;
    this.at += 1;
    if (this.peek() === close) throw new JsonFault(comma, `a comma before ${bracket}`);
    return false;
  }

  #checkDepth(depth: number): void {
    if (depth >= DEPTH_MAX) throw new JsonFault(this.at, TOO_DEEP);
  }

  #repeatedName(name: Slice, text: string): JsonFault {
    return new JsonFault(name.start, `member ${JSON.stringify(text)} for the second time`);
  }

  #areEqual(one: Slice, other: Slice): boolean {
    // Names are short: a call into native code costs more than this loop.
    const { bytes } = this;
    const length = one.end - one.start;
    if (other.end - other.start !== length) return false;
    for (let at = 1; at < length; at += 1) {
      if (bytes[one.start + at] !== bytes[other.start + at]) return false;
    }
    return true;
  }

  #skipEscape(at: number): number {
    const letter = String.fromCharCode(this.bytes[at + 1] ?? 0);
    if (letter !== 'u') {
      if ('"\\/bfnrt'.includes(letter)) return at + 2;
      throw new JsonFault(at, `${JSON.stringify(`\\${letter}`)} in a text, which is no escape`);
    }
    const code = this.#readUnit(at);
    if (code >= 0xdc00 && code <= 0xdfff) throw this.#halfPair(at);
    if (code < 0xd800 || code > 0xdbff) return at + 6;
    const isPair = this.bytes[at + 6] === BACKSLASH && this.bytes[at + 7] === 0x75;
    const low = isPair ? this.#readUnit(at + 6) : 0;
    if (low < 0xdc00 || low > 0xdfff) throw this.#halfPair(at);
    return at + 12;
  }

  #halfPair(at: number): JsonFault {
    const escape = this.bytes.toString('latin1', at, at + 6);
    return new JsonFault(at, `${escape} in a text, which is half of a pair (surrogate)`);
  }

  #readUnit(at: number): number {
    const digits = this.bytes.toString('latin1', at + 2, at + 6);
    if (/^[0-9a-fA-F]{4}$/.test(digits)) return Number.parseInt(digits, 16);
    throw new JsonFault(at, 'a \\u without four hexadecimal digits');
  }

  /** Describes a value and its position. */
  describe({ end, start }: Slice): string {
    const value = this.bytes.toString('latin1', start, Math.min(end, start + WORD_MAX));
    return `${value} in ${describePosition(this.bytes, start, this.line)}`;
  }

  #scanNumber(depth: number): void {
    const { bytes } = this;
    const start = this.at;
    let { at } = this;
    if (bytes[at] === MINUS) at += 1;
    if (!isDigit(bytes[at])) {
      this.#scanWord(depth);
      return;
    }
    let isInteger = true;
    if (bytes[at] === ZERO && isDigit(bytes[at + 1])) {
      throw new JsonFault(start, 'a number that begins with 0');
    }
    at = skipDigits(bytes, at);
    if (bytes[at] === POINT) {
      if (!isDigit(bytes[at + 1]))
        throw new JsonFault(start, 'a number without a digit after its point');
      at = skipDigits(bytes, at + 1);
      isInteger = false;
    }
    if (bytes[at] === 0x65 || bytes[at] === 0x45) {
      isInteger = false;
      at += bytes[at + 1] === MINUS || bytes[at + 1] === 0x2b ? 2 : 1;
      if (!isDigit(bytes[at]))
        throw new JsonFault(start, 'a number without a digit in its exponent');
      at = skipDigits(bytes, at);
    }
    this.at = at;
    this.values += 1;
    // DuckDB keeps the digits of integers.
    if (isInteger || fitsDouble(bytes.toString('latin1', start, at))) return;
    this.#respell({ start, end: at, as: 'text', depth });
  }

  #respell(value: Respelling): void {
    this.respelled += 1;
    if (this.#keepsRespellings) this.respellings.push(value);
  }

  #scanWord(depth: number): void {
    const { at, bytes } = this;
    for (const literal of LITERALS) {
      if (!literal.every((byte, n) => bytes[at + n] === byte)) continue;
      this.at = at + literal.length;
      if (literal.length !== 4 || bytes[at] === 0x74) this.values += 1;
      return;
    }
    const [word = ''] = /^-?[A-Za-z_]+/.exec(bytes.toString('latin1', at, at + WORD_MAX)) ?? [];
    if (NON_NUMBER.test(word)) {
      this.at = at + word.length;
      const slice = { start: at, end: this.at };
      this.#respell({ ...slice, as: 'null', depth });
      this.firstNonNumber ??= slice;
      this.nonNumbers += 1;
      return;
    }
    if (word === '') throw this.fault('where a value must be');
    throw new JsonFault(at, `${noValueSentence(word)}: texts are in double quotes`);
  }

  #describe(): string {
    const byte = this.bytes[this.at];
    if (byte === undefined) return 'the end';
    const next = this.bytes[this.at + 1];
    if (byte === 0x2f && (next === 0x2f || next === 0x2a)) return 'a comment';
    const [character = ''] = this.bytes.toString('utf8', this.at, this.at + 4);
    return /[\p{Cc}\p{Cf}\p{Z}]/u.test(character)
      ? `a character U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
      : JSON.stringify(character);
  }
}

function skipDigits(bytes: Buffer, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at += 1;
  return at;
}

/** `line 2, column 7`: columns count characters. @param line the number of the first line */
export function describePosition(bytes: Buffer, at: number, line = 1): string {
  let start = 0;
  let lines = line;
  for (let end = bytes.indexOf(0x0a); end >= 0 && end < at; end = bytes.indexOf(0x0a, end + 1)) {
    lines += 1;
    start = end + 1;
  }
  const column = bytes.toString('utf8', start, at).replace(/^\uFEFF/, '').length + 1;
  return `line ${lines}, column ${column}`;
}
