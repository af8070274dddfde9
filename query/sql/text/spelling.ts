// Converts the user's spelling to the text for DuckDB's parser: prints every token anew, so that both read
// the same tokens. Hyphenated names of tables become one name, parameters become literals.
import { Failure } from '../../../store/base/failure.ts';
import { checkCaps } from './textLimits.ts';
import { refuseAt, type Token, tokensOf } from './tokens.ts';

/** A value of a named parameter. */
export type ParameterValue = string | number | boolean | null;
export type ParameterValues = Readonly<Record<string, ParameterValue>>;

export interface Spelled {
  /** The user's text, for positions in messages. */
  readonly source: string;
  /** Standard SQL, one statement. */
  readonly text: string;
  /** Position of each token: its offset in bytes of `text`, and in characters of `source`. */
  readonly places: readonly { readonly out: number; readonly at: number }[];
}

/** @throws Failure InvalidParameter naming the place and the rule, or the parameter. */
export function spell(source: string, parameters: ParameterValues = {}): Spelled {
  const tokens = oneStatement(source, tokensOf(source));
  checkCaps(source, tokens);
  const places: { out: number; at: number }[] = [];
  const pieces: string[] = [];
  let out = 0;
  for (const { at, text } of joinHyphens(tokens, source, parameters)) {
    places.push({ out, at });
    pieces.push(text);
    out += Buffer.byteLength(text) + 1;
  }
  return { source, text: pieces.join(' '), places };
}

/** Converts a byte offset in the text to a position in the source. */
export function toUserPlace({ places }: Spelled, byte: number | undefined): number | undefined {
  if (byte === undefined) return undefined;
  return places.findLast(({ out }) => out <= byte)?.at;
}

export const ONE_QUERY = 'one query at a time';

function oneStatement(source: string, tokens: readonly Token[]): readonly Token[] {
  const end = tokens.findIndex(({ kind, value }) => kind === 'sign' && value === ';');
  const statement = end < 0 ? tokens : tokens.slice(0, end);
  const more = end < 0 ? undefined : tokens.slice(end).find(({ value }) => value !== ';');
  if (more !== undefined) refuseAt(source, more.at, ONE_QUERY);
  if (statement.length === 0) throw new Failure('InvalidParameter', '"sqlQuery" is empty');
  return statement;
}

interface Piece {
  readonly at: number;
  readonly text: string;
}

/** Words that end a FROM clause: after them a comma does not start a table. */
const CLAUSE_ENDS = new Set(
  'WHERE GROUP HAVING WINDOW QUALIFY ORDER LIMIT OFFSET UNION INTERSECT EXCEPT ON USING SELECT'.split(
    ' ',
  ),
);
/** Functions with a FROM among their arguments. */
const FROM_WITHIN = new Set(['EXTRACT', 'SUBSTRING', 'TRIM', 'OVERLAY', 'POSITION']);

/** A parameter is parsed as a text, which may name a table or a column where a value was meant. */
export const parameterRule = (what: 'table' | 'column'): string =>
  `a parameter is a value: it names no ${what}`;

function joinHyphens(
  tokens: readonly Token[],
  source: string,
  parameters: ParameterValues,
): readonly Piece[] {
  const pieces: Piece[] = [];
  const levels = [{ inFrom: false, isCall: false }];
  let tableNext = false;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    const before = tokens[at - 1];
    if (token.kind === 'parameter' && before?.value.toUpperCase() === 'AS') {
      refuseAt(source, token.at, parameterRule('column'));
    }
    const name = tableNext ? hyphenated(tokens, at) : undefined;
    if (name !== undefined) {
      pieces.push({ at: token.at, text: quotedName(name.value) });
      at = name.last;
    } else {
      pieces.push({ at: token.at, text: printToken(token, source, parameters) });
    }
    const level = levels.at(-1);
    const word = token.kind === 'word' ? token.value.toUpperCase() : '';
    if (token.value === '(' && token.kind === 'sign') {
      const isCall = before?.kind === 'word' && FROM_WITHIN.has(before.value.toUpperCase());
      levels.push({ inFrom: tableNext, isCall });
      continue;
    }
    if (token.value === ')' && token.kind === 'sign' && levels.length > 1) levels.pop();
    if (level === undefined) continue;
    const isClause = word === 'FROM' && !level.isCall && before?.value.toUpperCase() !== 'DISTINCT';
    if (isClause) level.inFrom = true;
    if (CLAUSE_ENDS.has(word)) level.inFrom = false;
    const isComma = token.kind === 'sign' && token.value === ',' && level.inFrom;
    const isDot = token.kind === 'sign' && token.value === '.' && level.inFrom;
    tableNext = isClause || word === 'JOIN' || isComma || isDot;
  }
  return pieces;
}

/** Parses `my-table`: words and digits joined by hyphens, without spaces. */
export function hyphenated(
  tokens: readonly Token[],
  first: number,
): { readonly value: string; readonly last: number } | undefined {
  if (tokens[first]?.kind !== 'word') return undefined;
  let value = tokens[first].value;
  let last = first;
  for (let at = first + 1; at + 1 < tokens.length; at += 2) {
    const [hyphen, part] = [tokens[at], tokens[at + 1]];
    if (hyphen?.value !== '-' || !hyphen.joined || part?.joined !== true) break;
    if (part.kind !== 'word' && !/^\d+$/.test(part.value)) break;
    value += `-${part.value}`;
    last = at + 1;
  }
  return last === first ? undefined : { value, last };
}

function printToken(token: Token, source: string, parameters: ParameterValues): string {
  const { at, kind, value } = token;
  if (kind === 'text') return quotedText(value);
  if (kind === 'name') return quotedName(value);
  // Beyond ASCII DuckDB's own rules for words differ; quoted they are names in both.
  if (kind === 'word' && !/^[A-Za-z0-9_]+$/.test(value)) return quotedName(value);
  if (kind !== 'parameter') return value;
  if (!Object.hasOwn(parameters, value)) {
    refuseAt(source, at, `parameter ${value} has no value`);
  }
  return printValue(value, parameters[value] ?? null);
}

function printValue(name: string, value: ParameterValue): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') {
    if (!value.includes('\0')) return quotedText(value);
    throw new Failure('InvalidParameter', `"${name}" must not hold the character U+0000`);
  }
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (Number.isFinite(value)) return `(${value})`;
  throw new Failure('InvalidParameter', `"${name}" must be a finite number`);
}

const quotedText = (value: string): string => `'${value.replaceAll("'", "''")}'`;
const quotedName = (value: string): string => `"${value.replaceAll('"', '""')}"`;
