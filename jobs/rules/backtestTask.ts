// Backtests a rule in a worker thread: an instant takes some 30 µs, and a request may have 1.5 million.
import { PastFacts, type Step } from '../../market/rules/pastFacts.ts';
import { type FactRequest, createFactRequest } from '../../market/rules/ruleFacts.ts';
import { type InputBody, readBodies } from '../../market/types/inputRows.ts';
import type { Need } from '../../market/types/typeRequest.ts';
import type { Day } from '../../query/time/days.ts';
import type { WorkerTask } from '../../workers/workerTask.ts';
import { backtest, type Backtested, type Instant } from './backtest.ts';
import type { RunningRule } from './ruleEngine.ts';
import { allNames, parseNamedFact } from './runningRule.ts';

export interface Range {
  readonly from: Day;
  readonly to: Day;
  readonly step: Step;
}

export interface BacktestInput {
  readonly rule: RunningRule;
  readonly range: Range;
  /** Symbols that the rule is evaluated for. */
  readonly evaluated: readonly string[];
  /** All symbols with values, also those that the rule names. */
  readonly symbols: readonly string[];
  readonly needs: readonly Need[];
  /** Records of the needs. */
  readonly bodies: readonly InputBody[];
}

interface BacktestOutput extends Backtested {
  readonly instants: number;
}

export const BACKTEST_TASK: WorkerTask<BacktestInput, BacktestOutput> = {
  file: new URL('./backtestTask.ts', import.meta.url),
  name: 'backtest',
  deadlineMs: 120_000,
  waitingMax: { account: 4, all: 32 },
  isLong: true,
};

export function run(input: BacktestInput): BacktestOutput {
  const { bodies, evaluated, needs, range, rule, symbols } = input;
  const past = buildPastFacts(symbols, needs, bodies, listNeededFacts(rule));
  const instants = mergeInstants(evaluated, past, range);
  return { ...backtest(rule, instants, (one) => past.get(one)), instants: instants.length };
}

export const listNeededFacts = (rule: RunningRule): FactRequest =>
  createFactRequest(new Set(allNames(rule).map((name) => parseNamedFact(name)?.fact ?? name)));

export function buildPastFacts(
  symbols: readonly string[],
  needs: readonly Need[],
  bodies: readonly InputBody[],
  facts: FactRequest,
): ReadonlyMap<string, PastFacts> {
  const read = readBodies(bodies);
  const rows = new Map(needs.map((need) => [`${need.input} ${need.key}`, read(need)] as const));
  return new Map(
    symbols.map((symbol) => [
      symbol,
      new PastFacts(symbol, (input, key) => rows.get(`${input} ${key}`) ?? [], facts),
    ]),
  );
}

/** Merges the instants of all symbols in the order of time. */
function mergeInstants(
  symbols: readonly string[],
  past: ReadonlyMap<string, PastFacts>,
  { from, step, to }: Range,
): readonly Instant[] {
  const all = symbols.flatMap((symbol) =>
    (past.get(symbol)?.instants(step, from, to) ?? []).map((timeMs) => ({ symbol, timeMs })),
  );
  return all.sort((one, other) => one.timeMs - other.timeMs);
}
