// Answers of the test environment: the same paths and shapes with values that are not the real
// ones (SPEC.md "Authentication" 3, INTERFACE.md 0.2). It makes test data nobody can mistake for
// the market's; it is no encryption, and real values can be guessed from it.
//
// The bytes of an answer are rewritten from left to right and never parsed as a whole, so that no
// number loses digits (past 2^53 too), no member changes its place, and no depth is too deep.
import { hash } from 'node:crypto';
import type { ColumnType } from '../store/columns.ts';
import type { TextFormat } from '../store/duckdb/protocol.ts';

/** Greatest change of a number, and of a date. */
const RATIO_MAX = 0.05;
const DAYS_MAX = 30;
const DAY_MS = 86_400_000;

/** Members that are epoch milliseconds when they are whole numbers, and what else is taken for it. */
const EPOCH_NAMES: ReadonlySet<string> = new Set(['date', 'updated']);
const EPOCH_LEAST_MS = 1e12;
const EPOCH_MOST_MS = 4e12;

const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?([eE][+-]?\d+)?$/;
const WHOLE = /^-?\d+$/;
/** Digits that a double holds exactly, also when they grow by RATIO_MAX. */
const EXACT_DIGITS = 15;
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$/;
/** A 64-bit integer that JSON holds as text. */
const LONG_WHOLE = /^-?[1-9]\d{15,}$/;

/** What one answer is scrambled by: all that its values' new values depend on, besides them. */
interface Scrambler {
  readonly basis: number;
  /** Days by which every date of the answer moves: -30 … 30, never 0. */
  readonly days: number;
  readonly keep: ReadonlySet<string>;
  /** Name -> where its values' streams begin. */
  readonly states: Map<string, number>;
  /** `YYYY-MM-DD` -> the same, moved. */
  readonly dates: Map<string, string>;
}

/**
 * `bytes`, an answer as store/duckdb/render.ts writes it, with other values: letters and digits of
 * text change places among themselves, numbers change by up to 5 % and keep their decimals, dates
 * and epoch milliseconds move by the same days. Names, order, booleans, nulls, zeros and what is
 * named in `keep` (at any depth) stay. A value's new one depends on `seed`, on its member's name
 * and on itself: the same in every row, every call and every format.
 * `types`: what the columns of csv and psv hold, by name. A column that is not in it is read by its
 * looks, so that text of digits is taken for a number, which it is not in JSON.
 */
export function scrambleRecords(
  bytes: Buffer,
  format: TextFormat,
  seed: string,
  keep: ReadonlySet<string>,
  types: ReadonlyMap<string, ColumnType> = new Map(),
): Buffer {
  const digest = hash('sha256', seed, 'buffer');
  const step = digest.readUInt32LE(4) % (2 * DAYS_MAX);
  const scrambler: Scrambler = {
    basis: digest.readInt32LE(0),
    days: step < DAYS_MAX ? step - DAYS_MAX : step - DAYS_MAX + 1,
    keep,
    states: new Map(),
    dates: new Map(),
  };
  const text = bytes.toString('utf8');
  if (format === 'json' || format === 'jsonl') return Buffer.from(newJson(scrambler, '', text));
  return Buffer.from(newTable(scrambler, text, format.startsWith('csv') ? ',' : '|', types));
}

/** Valid JSON, or several texts of it, of the member `name`: only its texts and numbers change. */
function newJson(scrambler: Scrambler, name: string, text: string): string {
  // The member of each container in which we are, the innermost last.
  const members: string[] = [name];
  // How many of those containers are in a member to keep.
  let kept = 0;
  let copiedTo = 0;
  let out = '';
  let end = 0;
  for (let start = 0; start < text.length; start = end) {
    const code = text.charCodeAt(start);
    end = endOfToken(text, start, code);
    if (code === COMMA || code === COLON) continue;
    const member = members.at(-1) ?? '';
    const keeps = kept > 0 || scrambler.keep.has(member);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      members.push(member);
      if (keeps) kept += 1;
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      members.pop();
      kept = Math.max(0, kept - 1);
    } else if (code === QUOTE && isName(text, end)) {
      members[members.length - 1] = unquoted(text.slice(start, end));
    } else if (!keeps && (code === QUOTE || isNumberStart(code))) {
      const token = text.slice(start, end);
      const scrambled =
        code === QUOTE ? newQuoted(scrambler, member, token) : newNumber(scrambler, member, token);
      out += text.slice(copiedTo, start) + scrambled;
      copiedTo = end;
    }
  }
  return out + text.slice(copiedTo);
}

const [QUOTE, COMMA, COLON, MINUS, BACKSLASH, LINE_FEED] = [0x22, 0x2c, 0x3a, 0x2d, 0x5c, 0x0a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isNumberStart = (code: number): boolean => isDigit(code) || code === MINUS;
/** Digits, `.`, `e`, `E`, `+` and `-`. */
const isNumberPart = (code: number): boolean =>
  isDigit(code) || code === MINUS || code === 0x2e || (code | 0x20) === 0x65 || code === 0x2b;

/** Where the token that begins at `start` with `code` ends; words and blanks go by characters. */
function endOfToken(text: string, start: number, code: number): number {
  let end = start + 1;
  if (code === QUOTE) {
    while (end < text.length && text.charCodeAt(end) !== QUOTE) {
      end += text.charCodeAt(end) === BACKSLASH ? 2 : 1;
    }
    return end + 1;
  }
  if (isNumberStart(code)) while (isNumberPart(text.charCodeAt(end))) end += 1;
  return end;
}

/** Whether the text that ended before `end` names a member: then a colon comes next. */
function isName(text: string, end: number): boolean {
  let at = end;
  while (/\s/.test(text.charAt(at))) at += 1;
  return text.charCodeAt(at) === COLON;
}

const unquoted = (token: string): string =>
  token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);

function newQuoted(scrambler: Scrambler, name: string, token: string): string {
  const scrambled = newText(scrambler, name, unquoted(token));
  // The same characters in another order need escapes only where there were some.
  return token.includes('\\') ? JSON.stringify(scrambled) : `"${scrambled}"`;
}

/** A table with a header, every row ended by a line feed. */
function newTable(
  scrambler: Scrambler,
  text: string,
  delimiter: string,
  types: ReadonlyMap<string, ColumnType>,
): string {
  const needsQuotes = (cell: string): boolean => cell.includes(delimiter) || /["\r\n]/.test(cell);
  const print = (cell: string): string =>
    needsQuotes(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  let header: readonly string[] | undefined;
  let out = '';
  for (const row of rowsOf(text, delimiter)) {
    const names = header ?? [];
    const cells = row.map((cell, index) => {
      const name = names[index];
      if (name === undefined || cell === '' || scrambler.keep.has(name)) return cell;
      return newCell(scrambler, name, cell, typeOf(cell, types.get(name)));
    });
    out += `${cells.map(print).join(delimiter)}\n`;
    header ??= row;
  }
  return out;
}

function* rowsOf(text: string, delimiter: string): Generator<readonly string[]> {
  const delimiterCode = delimiter.charCodeAt(0);
  let cells: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const start = at;
    if (text.charCodeAt(at) === QUOTE) {
      at = closingQuote(text, at + 1) + 1;
      cells.push(text.slice(start + 1, at - 1).replaceAll('""', '"'));
    } else {
      while (at < text.length && !isCellEnd(text.charCodeAt(at), delimiterCode)) at += 1;
      cells.push(text.slice(start, at));
    }
    if (text.charCodeAt(at) === delimiterCode) continue;
    yield cells;
    cells = [];
  }
}

const isCellEnd = (code: number, delimiterCode: number): boolean =>
  code === delimiterCode || code === LINE_FEED;

/** The next quote that is not one of two. */
function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (text.charCodeAt(at + 1) === QUOTE) at = text.indexOf('"', at + 2);
  return at < 0 ? text.length : at;
}

/** The type of a cell; what is not told, or may also stand as epoch milliseconds, by its looks. */
function typeOf(cell: string, told: ColumnType | undefined): ColumnType {
  if (told !== undefined && told !== 'date' && told !== 'timestamp') return told;
  if (NUMBER.test(cell)) return WHOLE.test(cell) ? 'int64' : 'float64';
  if (cell === 'true' || cell === 'false') return 'boolean';
  return /^[{["]/.test(cell) && isJson(cell) ? 'json' : 'varchar';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** As the same value is scrambled in JSON, where whole numbers past 2^53 are text. */
function newCell(scrambler: Scrambler, name: string, cell: string, type: ColumnType): string {
  if (type === 'boolean') return cell;
  if (type === 'json') return newJson(scrambler, name, cell);
  const isNumber = type === 'float64' || (type === 'int64' && Number.isSafeInteger(Number(cell)));
  return isNumber ? newNumber(scrambler, name, cell) : newText(scrambler, name, cell);
}

/** A number of JSON's grammar, with as many decimals and the same exponent. */
function newNumber(scrambler: Scrambler, name: string, text: string): string {
  const [, sign = '', whole = '', decimals = '', exponent = ''] = NUMBER.exec(text) ?? [];
  if (whole === '') return text;
  const value = Number(text);
  if (decimals === '' && exponent === '' && isEpoch(name, value)) {
    return String(value + scrambler.days * DAY_MS);
  }
  const ratio = (2 * randomOf(stateOf(scrambler, name, text), 0) - 1) * RATIO_MAX;
  const digits = { sign, whole, decimals, exponent };
  const changed = changedBy(digits, ratio);
  const mayBeLost = exponent !== '' || whole.length > EXACT_DIGITS;
  return mayBeLost && isLost(value, Number(changed)) ? changedBy(digits, -ratio) : changed;
}

interface Digits {
  readonly sign: string;
  readonly whole: string;
  readonly decimals: string;
  /** With its `e`; empty when there is none. */
  readonly exponent: string;
}

/** Multiplied by 1 + `ratio`, in its first EXACT_DIGITS digits; the rest stay as they are. */
function changedBy({ sign, whole, decimals, exponent }: Digits, ratio: number): string {
  const digits = whole + decimals;
  const first = digits.slice(0, EXACT_DIGITS);
  const from = Number(first);
  // Cut, not rounded: a rounded change could be over 5 %.
  let by = Math.trunc(from * ratio);
  // A last decimal of 0 would be lost to who reads it: 12.5 stays a number with a decimal.
  if (decimals !== '' && from % 10 !== 0 && (from + by) % 10 === 0) by -= Math.sign(by);
  const all = String(from + by).padStart(first.length, '0') + digits.slice(EXACT_DIGITS);
  const point = all.length - decimals.length;
  const fraction = decimals === '' ? '' : `.${all.slice(point)}`;
  return sign + all.slice(0, point).replace(/^0+(?=\d)/, '') + fraction + exponent;
}

const isEpoch = (name: string, value: number): boolean =>
  Number.isSafeInteger(value) &&
  (EPOCH_NAMES.has(name) || (value >= EPOCH_LEAST_MS && value <= EPOCH_MOST_MS));

/** Whether a number grew past 2^53, where this server writes text, or past the largest double. */
const isLost = (from: number, to: number): boolean =>
  (Number.isSafeInteger(from) && Number.isInteger(to) && !Number.isSafeInteger(to)) ||
  (Number.isFinite(from) && !Number.isFinite(to));

function newText(scrambler: Scrambler, name: string, text: string): string {
  if (text.charCodeAt(4) === MINUS && DATE.test(text)) {
    const moved = newDate(scrambler, text.slice(0, 10));
    if (moved !== undefined) return moved + text.slice(10);
  }
  const characters = [...text];
  const letters: number[] = [];
  const digits: number[] = [];
  for (const [index, character] of characters.entries()) {
    const code = character.charCodeAt(0);
    if (isDigit(code)) digits.push(index);
    else if (isLetter(character, code)) letters.push(index);
  }
  // A zero in front would make another number of it for who reads it as one.
  if (LONG_WHOLE.test(text)) digits.shift();
  const state = stateOf(scrambler, name, text);
  shuffle(characters, letters, state);
  shuffle(characters, digits, ~state);
  return characters.join('');
}

const isLetter = (character: string, code: number): boolean =>
  code < 0x80 ? (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a : /\p{L}/u.test(character);

/** Sattolo's shuffle: nothing stays in its place, so that even two letters change. */
function shuffle(characters: string[], places: readonly number[], state: number): void {
  for (let last = places.length - 1; last > 0; last -= 1) {
    const other = places[Math.floor(randomOf(state, last) * last)] ?? 0;
    const place = places[last] ?? 0;
    const character = characters[place] ?? '';
    characters[place] = characters[other] ?? '';
    characters[other] = character;
  }
}

/** Undefined where there is no such day; at the ends of the calendar it stays, to keep its form. */
function newDate(scrambler: Scrambler, day: string): string | undefined {
  const known = scrambler.dates.get(day);
  if (known !== undefined) return known;
  const ms = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== day) return undefined;
  const moved = new Date(ms + scrambler.days * DAY_MS).toISOString();
  const answered = /^\d/.test(moved) ? moved.slice(0, 10) : day;
  scrambler.dates.set(day, answered);
  return answered;
}

function stateOf({ basis, states }: Scrambler, name: string, text: string): number {
  const known = states.get(name) ?? mixed(basis, `${name}\0`);
  states.set(name, known);
  return mixed(known, text);
}

/** FNV-1a over UTF-16 code units. */
function mixed(basis: number, text: string): number {
  let state = basis;
  for (let index = 0; index < text.length; index += 1) {
    state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
  }
  return state;
}

/** The `index`th number of the stream of `state`, at least 0 and under 1: Mulberry32. */
function randomOf(state: number, index: number): number {
  let bits = (state + Math.imul(index + 1, 0x6d2b79f5)) | 0;
  bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
}
