// Parses a rule in one line: `AAPL latestPrice > 150 and changePercent < -0.02`.
import { Failure } from '../../store/base/failure.ts';

interface RuleLine {
  /** A symbol, or ANYEVENT. */
  readonly ruleSet: string;
  readonly type: 'any' | 'all';
  readonly conditions: readonly (readonly (string | number | boolean)[])[];
}

interface Token {
  readonly text: string;
  readonly at: number;
  readonly isQuoted: boolean;
}

const TOKEN = /"([^"]*)"|'([^']*)'|(<=|>=|==|!=|<|>|=)|([^\s"'<>=!]+)|(\S)/g;
const OPERATORS = new Set(['<', '<=', '>', '>=', '==', '!=']);
const ANY = 'ANYEVENT';

/** @throws Failure InvalidParameter that shows the position */
export function parseRuleLine(line: string): RuleLine {
  const tokens = [...line.matchAll(TOKEN)].map((match): Token => {
    const quoted = match[1] ?? match[2];
    return { text: quoted ?? match[0], at: match.index, isQuoted: quoted !== undefined };
  });
  const [symbol, ...rest] = tokens;
  if (symbol === undefined || OPERATORS.has(symbol.text)) {
    return refuseAt(line, symbol?.at ?? 0, 'a rule begins with a symbol, or with any');
  }
  const parts = splitConditions(rest, line.length);
  const types = new Set(parts.map(({ joined }) => joined).filter((joined) => joined !== ''));
  const mixed = parts.find(({ joined }) => joined !== '' && joined !== parts[1]?.joined);
  if (types.size > 1 && mixed !== undefined) {
    return refuseAt(line, mixed.at, 'conditions are joined by and, or by or, not by both');
  }
  return {
    ruleSet: symbol.text.toLowerCase() === 'any' ? ANY : symbol.text.toUpperCase(),
    type: types.has('or') ? 'any' : 'all',
    conditions: parts.map(({ at, tokens: own }) => parseCondition(line, own, at)),
  };
}

interface Part {
  /** The word before it: `and` or `or`; '' before the first. */
  readonly joined: string;
  readonly at: number;
  readonly tokens: readonly Token[];
}

/** @param end the length of the line */
function splitConditions(tokens: readonly Token[], end: number): readonly Part[] {
  const parts: { joined: string; at: number; tokens: Token[] }[] = [];
  let open: (typeof parts)[number] = { joined: '', at: tokens[0]?.at ?? end, tokens: [] };
  parts.push(open);
  for (const token of tokens) {
    const word = token.isQuoted ? '' : token.text.toLowerCase();
    if (word === 'and' || word === 'or') {
      open = { joined: word, at: token.at, tokens: [] };
      parts.push(open);
    } else open.tokens.push(token);
  }
  return parts;
}

function parseCondition(
  line: string,
  tokens: readonly Token[],
  at: number,
): readonly (string | number | boolean)[] {
  const [name, operator, ...rest] = tokens;
  if (name === undefined) return refuseAt(line, at, 'a condition is missing here');
  if (operator === undefined) return [name.text, 'true', true];
  const word = operator.text.toLowerCase();
  if (word === 'within') {
    const span = rest.map(({ text }) => text).join('');
    return [name.text, 'within', span.split('-').join(' - ')];
  }
  const isNot = word === 'is' && rest[0]?.text.toLowerCase() === 'not' && !rest[0].isQuoted;
  const [right, surplus] = isNot ? rest.slice(1) : rest;
  const sign = word === 'is' ? (isNot ? '!=' : '==') : word === '=' ? '==' : word;
  if (!OPERATORS.has(sign)) {
    const rule = 'an operator is one of <, <=, >, >=, =, !=, is, is not, within';
    return refuseAt(line, operator.at, rule);
  }
  if (right === undefined)
    return refuseAt(line, line.length, 'what it is compared with is missing');
  if (surplus !== undefined) return refuseAt(line, surplus.at, 'and or or is missing before this');
  return [name.text, sign, valueOf(right)];
}

function valueOf({ isQuoted, text }: Token): string | number | boolean {
  if (isQuoted) return text;
  if (isNumber(text)) return Number(text);
  if (text.endsWith('%') && isNumber(text.slice(0, -1))) return Number(text.slice(0, -1)) / 100;
  return text === 'true' || text === 'false' ? text === 'true' : text;
}

const isNumber = (text: string): boolean => /^[-+.\d]/.test(text) && Number.isFinite(Number(text));

function refuseAt(line: string, at: number, rule: string): never {
  throw new Failure('InvalidParameter', `${rule}\n  ${line}\n  ${' '.repeat(at)}^`);
}
