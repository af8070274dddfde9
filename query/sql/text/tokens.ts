// Splits a SQL text into tokens, in the users' spelling: back-ticks around names, double quotes around texts
// (INTERFACE.md 3.6). Refuses characters that are no token of the subset, with their position.
import { Failure } from '../../../store/base/failure.ts';

export interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'number' | 'sign' | 'parameter';
  /** A word and a sign as written; the value of a name, a text, a parameter. */
  readonly value: string;
  /** Offset in the text. */
  readonly at: number;
  /** It follows the previous token without a space. */
  readonly joined: boolean;
}

/** Characters of one SQL text. */
export const TEXT_MAX = 100_000;
/** Words, names, numbers and signs of one text: a list of 5,000 values takes 10,000. */
const TOKENS_MAX = 25_000;

/** The longest first. */
const SIGN =
  /->>|!~~?\*?|~~\*?|~\*|::|:=|\|\||<>|<=|<<|>=|>>|=>|[=!]=|->|\*\*|\/\/|[-+*/%^=<>(),.;:~&|[\]]/y;
const SPACE = /[ \t\r\n\f]+/y;
const LINE_COMMENT = /--[^\r\n]*/y;
const WORD = /[\p{L}_][\p{L}\p{N}_]*/uy;
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const PARAMETER = /[:$]([A-Za-z_][A-Za-z0-9_]*)/y;
/** A prefix that would change the meaning of the quoted text after it. */
const TEXT_PREFIX = /^(?:[ebxnu]|_[a-z0-9]+)$/i;

/** @throws Failure InvalidParameter naming line, column and the rule. */
export function tokensOf(text: string): readonly Token[] {
  if (text.length > TEXT_MAX) {
    throw new Failure('InvalidParameter', `"sqlQuery" must be at most ${TEXT_MAX} characters`);
  }
  const tokens: Token[] = [];
  let at = 0;
  let joined = false;
  while (at < text.length) {
    const skipped = skip(text, at);
    if (skipped > at) {
      at = skipped;
      joined = false;
      continue;
    }
    const { token, end } = next(text, at, joined, tokens.at(-1));
    if (tokens.push(token) > TOKENS_MAX) {
      refuseAt(text, at, `a query has at most ${TOKENS_MAX} words, values and signs`);
    }
    at = end;
    joined = true;
  }
  return tokens;
}

/** Returns the position after a space or a comment. */
function skip(text: string, at: number): number {
  const space = match(SPACE, text, at) ?? match(LINE_COMMENT, text, at);
  if (space !== undefined) return at + space.length;
  if (!text.startsWith('/*', at)) return at;
  // Comments nest, as in PostgreSQL and DuckDB.
  let depth = 0;
  for (let place = at; place < text.length;) {
    const pair = text.slice(place, place + 2);
    if (pair === '/*') depth += 1;
    if (pair === '*/') depth -= 1;
    place += pair === '/*' || pair === '*/' ? 2 : 1;
    if (depth === 0) return place;
  }
  return refuseAt(text, at, 'a comment has no end');
}

interface NextToken {
  readonly token: Token;
  readonly end: number;
}

function next(text: string, at: number, joined: boolean, before: Token | undefined): NextToken {
  const character = text[at] ?? '';
  const makeToken = (kind: Token['kind'], value: string, length: number): NextToken => ({
    token: { kind, value, at, joined },
    end: at + length,
  });
  if (character === "'" || character === '"' || character === '`') {
    if (joined && before?.kind === 'word' && TEXT_PREFIX.test(before.value)) {
      refuseAt(text, at, `a text may not have the prefix ${before.value}`);
    }
    const { value, length } = quoted(text, at, character);
    return makeToken(character === '`' ? 'name' : 'text', value, length);
  }
  const number = match(NUMBER, text, at);
  if (number !== undefined) {
    if (match(WORD, text, at + number.length) !== undefined) {
      refuseAt(text, at, 'a number ends in letters: write digits, a point, an exponent');
    }
    return makeToken('number', number, number.length);
  }
  const word = match(WORD, text, at);
  if (word !== undefined) return makeToken('word', word, word.length);
  const parameter = match(PARAMETER, text, at);
  // PARAMETER requires one colon: `:date` is a parameter, `::` is a sign.
  if (parameter !== undefined) return makeToken('parameter', parameter.slice(1), parameter.length);
  const sign = match(SIGN, text, at);
  if (sign !== undefined) return makeToken('sign', sign, sign.length);
  return refuseAt(text, at, foreign(character));
}

export const subsetRule = (what: string, verb: 'is' | 'are' = 'is'): string =>
  `${what} ${verb} not part of the subset`;

function foreign(character: string): string {
  if ('{}'.includes(character)) {
    return `${character} is not allowed: ${subsetRule('structs', 'are')}`;
  }
  if (character === '?') return '? is not allowed: name a parameter, :name';
  if (character === '\\') return 'a backslash is allowed only in a text';
  const code = character.codePointAt(0) ?? 0;
  const label = code > 32 && code < 127 ? character : `U+${code.toString(16).padStart(4, '0')}`;
  return `${label} is not allowed outside of a text`;
}

/** Reads a quoted text; a doubled quote is one quote. */
function quoted(
  text: string,
  at: number,
  quote: string,
): { readonly value: string; readonly length: number } {
  let value = '';
  for (let place = at + 1; place < text.length; place += 1) {
    const character = text[place] ?? '';
    if (character === '\0') refuseAt(text, place, 'a text may not hold the character U+0000');
    if (character === quote) {
      if (text[place + 1] !== quote) return { value, length: place + 1 - at };
      place += 1;
    }
    // Some dialects escape with it and some do not: refuse rather than guess.
    if (character === '\\' && text[place + 1] === quote) {
      refuseAt(text, place, `a backslash does not escape: write ${quote}${quote} for ${quote}`);
    }
    value += character;
  }
  return refuseAt(text, at, 'a quoted text or name has no end');
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** @throws Failure InvalidParameter with the line and the column of the place. */
export function refuseAt(text: string, at: number | undefined, rule: string): never {
  if (at === undefined) throw new Failure('InvalidParameter', `"sqlQuery": ${rule}`);
  const before = text.slice(0, at).split('\n');
  const column = [...(before.at(-1) ?? '')].length + 1;
  const place = `line ${before.length}, column ${column}`;
  throw new Failure('InvalidParameter', `"sqlQuery" ${place}: ${rule}`);
}
