// Backtests a rule: the live engine runs over past instants, and reports each firing, how often each
// condition held, and how close the others came.
import type { PastFacts } from '../../market/rules/pastFacts.ts';
import { secondOfDay } from '../../market/derive/exchangeTime.ts';
import type { Facts } from '../../market/rules/ruleFacts.ts';
import { type Firing, RuleEngine, type RunningRule } from './ruleEngine.ts';
import { allNames, isNamed, parseNamedFact } from './runningRule.ts';

export interface Instant {
  readonly timeMs: number;
  readonly symbol: string;
}

/** Result of one condition. */
interface ConditionResult {
  readonly condition: readonly unknown[];
  /** Instants at which it held. */
  readonly held: number;
  /** For numbers: the smallest distance at an instant at which it did not hold, and its time. */
  readonly nearest: { readonly missing: number; readonly timestamp: number } | null;
}

export interface Backtested {
  readonly evaluated: number;
  readonly passed: number;
  readonly fired: number;
  /** The first of them. */
  readonly firings: readonly Firing[];
  readonly conditions: readonly ConditionResult[];
}

/** Firings that are listed. */
export const FIRINGS_LISTED_MAX = 1_000;
/** Computes for up to minutes: only in a worker thread. */
export function backtest(
  rule: RunningRule,
  instants: readonly Instant[],
  past: (symbol: string) => PastFacts | undefined,
): Backtested {
  const engine = new RuleEngine(isNamed);
  engine.setRule(rule);
  const firings: Firing[] = [];
  const conditions = rule.conditions.map(({ name, operator, right }) => {
    const compared = 'name' in right ? right.name : right.literal;
    return new ConditionCount([name, operator, compared]);
  });
  const readsBars = allNames(rule).includes('hasMinuteBar');
  let [fired, evaluated, passed] = [0, 0, 0];
  for (const { symbol, timeMs } of instants) {
    const second = secondOfDay(timeMs);
    const shared = sharedAt(rule, timeMs, past);
    const facts = past(symbol)?.at(timeMs) ?? {};
    const newFirings = [
      ...engine.apply({ symbol: '', timeMs, secondOfDay: second, values: shared }),
      ...engine.apply({ symbol, timeMs, secondOfDay: second, values: { ...facts, ...BAR } }),
      ...(readsBars ? engine.apply({ symbol, timeMs, secondOfDay: second, values: NO_BAR }) : []),
    ];
    fired += newFirings.length;
    firings.push(...newFirings.slice(0, FIRINGS_LISTED_MAX - firings.length));
    const subject = rule.event === '' ? '' : symbol;
    const why = engine.explain(rule.id, subject, second);
    for (const [place, count] of conditions.entries()) {
      const holds = why?.conditions[place]?.holds === true;
      count.add(holds, { ...facts, ...shared }, timeMs);
    }
  }
  for (const counts of engine.takeCounts().values()) {
    evaluated += counts.evaluated;
    passed += counts.passed;
  }
  return { evaluated, passed, fired, firings, conditions: conditions.map((one) => one.result()) };
}

/** State of a rule at one instant; undefined without data of its symbol then. */
export function explainAt(
  rule: RunningRule,
  { symbol, timeMs }: Instant,
  past: (symbol: string) => PastFacts | undefined,
): ReturnType<RuleEngine['explain']> {
  const engine = new RuleEngine(isNamed);
  engine.setRule(rule);
  const second = secondOfDay(timeMs);
  const shared = sharedAt(rule, timeMs, past);
  const values = symbol === '' ? {} : (past(symbol)?.at(timeMs) ?? {});
  engine.apply({ symbol: '', timeMs, secondOfDay: second, values: shared });
  engine.apply({ symbol, timeMs, secondOfDay: second, values });
  const why = engine.explain(rule.id, symbol, second);
  return why === undefined ? undefined : { ...why, firedMs: null };
}

/** An event exists at its instant only. */
const BAR = { hasMinuteBar: true } as const;
const NO_BAR = { hasMinuteBar: false } as const;

/** Values of named symbols. */
function sharedAt(
  { alsoNames, conditions }: RunningRule,
  timeMs: number,
  past: (symbol: string) => PastFacts | undefined,
): Facts {
  const names = [
    ...conditions.flatMap(({ name, right }) => ('name' in right ? [name, right.name] : [name])),
    ...alsoNames,
  ];
  const shared = names.flatMap((name) => {
    const named = parseNamedFact(name);
    if (named === undefined) return [];
    const facts = past(named.entity.toUpperCase())?.at(timeMs);
    return [[name, facts?.[named.fact] ?? null] as const];
  });
  return Object.fromEntries(shared);
}

class ConditionCount {
  readonly #condition: readonly unknown[];
  #heldCount = 0;
  #nearest: ConditionResult['nearest'] = null;

  constructor(condition: readonly unknown[]) {
    this.#condition = condition;
  }

  add(holds: boolean, facts: Facts, timeMs: number): void {
    if (holds) {
      this.#heldCount += 1;
      return;
    }
    const [name, , right] = this.#condition;
    const left = facts[String(name)];
    const other = typeof right === 'string' ? facts[right] : right;
    if (typeof left !== 'number' || typeof other !== 'number') return;
    const missing = Math.abs(left - other);
    if (this.#nearest === null || missing < this.#nearest.missing) {
      this.#nearest = { missing, timestamp: timeMs };
    }
  }

  result(): ConditionResult {
    return { condition: this.#condition, held: this.#heldCount, nearest: this.#nearest };
  }
}
