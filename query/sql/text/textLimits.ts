// Limits constructs of a text before any parser sees it: DuckDB's parser copies the operand of CASE to each
// of its arms, and a named window to each use.
import { refuseAt, type Token } from './tokens.ts';

/** Nested parentheses and brackets. */
const DEPTH_MAX = 60;
/** Nested CASE. */
const CASES_MAX = 20;
/** Words that copies of CASE operands or of named windows expand to. */
const COPIES_MAX = 50_000;

/** @throws Failure InvalidParameter naming the place and the rule. */
export function checkCaps(source: string, tokens: readonly Token[]): void {
  checkDepth(source, tokens);
  checkCases(source, tokens);
  checkWindows(source, tokens);
}

const isSign = ({ kind, value }: Token, sign: string): boolean => kind === 'sign' && value === sign;

const wordOf = ({ kind, value }: Token): string => (kind === 'word' ? value.toUpperCase() : '');

function checkDepth(source: string, tokens: readonly Token[]): void {
  let depth = 0;
  let subscripts = 0;
  for (const [at, token] of tokens.entries()) {
    const before = tokens[at - 1];
    // Each subscript nests in the next one: DuckDB takes seconds for some hundreds.
    if (isSign(token, '[') && before !== undefined && isSign(before, ']')) {
      subscripts += 1;
      if (subscripts > DEPTH_MAX) {
        refuseAt(source, token.at, `at most ${DEPTH_MAX} subscripts of subscripts`);
      }
    }
    if (isSign(token, '(') || isSign(token, '[')) depth += 1;
    if (isSign(token, ')') || isSign(token, ']')) depth -= 1;
    if (depth > DEPTH_MAX) {
      refuseAt(source, token.at, `at most ${DEPTH_MAX} parentheses in each other`);
    }
  }
}

interface Case {
  readonly at: number;
  /** Index of its first word. */
  readonly first: number;
  /** Words before its first WHEN; 0 for a CASE without an operand. */
  operand: number;
  arms: number;
}

function checkCases(source: string, tokens: readonly Token[]): void {
  const open: Case[] = [];
  tokens.forEach((token, index) => {
    const word = wordOf(token);
    const inner = open.at(-1);
    if (word === 'CASE') {
      if (inner?.arms === 0) refuseAt(source, token.at, 'CASE may not be the operand of CASE');
      open.push({ at: token.at, first: index + 1, operand: 0, arms: 0 });
      if (open.length > CASES_MAX) {
        refuseAt(source, token.at, `at most ${CASES_MAX} CASE in each other`);
      }
    }
    if (inner === undefined) return;
    if (word === 'WHEN') {
      if (inner.arms === 0) inner.operand = index - inner.first;
      inner.arms += 1;
      if (inner.operand * inner.arms > COPIES_MAX) {
        refuseAt(source, inner.at, 'the operand of CASE is too long for so many arms');
      }
    }
    if (word === 'END') open.pop();
  });
}

function checkWindows(source: string, tokens: readonly Token[]): void {
  const first = tokens.findIndex((token) => wordOf(token) === 'WINDOW');
  const named = tokens.filter((token, index) => {
    const next = tokens[index + 1];
    return wordOf(token) === 'OVER' && next !== undefined && !isSign(next, '(');
  });
  if (first < 0 || named.length * (tokens.length - first) <= COPIES_MAX) return;
  refuseAt(source, tokens[first]?.at, 'the named windows are too long for so many uses');
}
