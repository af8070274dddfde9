// Compares the rule engine with a naive one: random rules over a random tape fire at the same changes, for
// the same symbols, with the same values, in the same order, with the same counts, while rules are added and
// removed.
import assert from 'node:assert/strict';
import { ANY_SYMBOL, RuleEngine, type RunningRule } from '../../../jobs/rules/ruleEngine.ts';
import { type Condition, parseConditions } from '../../../query/rules/conditions.ts';
import type { ValueKind } from '../../../query/rules/operators.ts';
import { seeded } from '../crash/rounds/seeded.ts';

type Random = ReturnType<typeof seeded>;
type Value = number | string | boolean | null;
type Values = Readonly<Record<string, Value>>;

const KINDS: Readonly<Record<string, ValueKind>> = {
  price: 'number',
  volume: 'number',
  average: 'number',
  word: 'string',
  place: 'string',
  open: 'boolean',
  dividend: 'event',
  day: 'date',
  next: 'date',
  time: 'time',
  'W:D:K:level': 'number',
  'W:D:K:note': 'string',
};
const SYMBOLS = ['AAA', 'BBB', 'CCC'];
const WORDS = ['up', 'down', '', 'price'];
const DATES = ['2024-02-28', '2024-02-29', '2024-03-01'];
const SPANS = ['09:30:00 - 16:00:00', '22:00 - 02:00', '00:00:00-23:59:59'];
const choose = <Item>(random: Random, items: readonly Item[]): Item => {
  const [first, ...rest] = items;
  if (first === undefined) throw new RangeError('nothing to choose from');
  return random.pick([first, ...rest]);
};

const isShared = (name: string): boolean => name.includes(':');
const kindOf = (name: string): ValueKind | undefined => KINDS[name];

/** Compares `count` rules. @returns the numbers of rules, changes and firings */
export function rulesLaw(count: number, seed: number): string {
  const random = seeded(seed);
  let [rules, changes, firings] = [0, 0, 0];
  while (rules < count) {
    const counts = oneTape(random, `seed ${seed}, after ${rules} rules`);
    rules += counts.rules;
    changes += counts.changes;
    firings += counts.firings;
  }
  return `seed ${seed}: ${rules} rules, ${changes} changes, ${firings} firings`;
}

function oneTape(random: Random, where: string): Record<'rules' | 'changes' | 'firings', number> {
  const engine = new RuleEngine(isShared);
  const naive = new NaiveRules();
  let [rules, changes, firings, timeMs] = [0, 0, 0, 1_709_200_000_000];
  const evaluated = { ours: 0, theirs: 0 };
  for (let step = 0; step < 200; step += 1) {
    const act = random.between(0, 19);
    if (act < 2 || rules === 0) {
      const rule = ruleOf(random, `R${random.between(0, 30)}`);
      count(engine, evaluated);
      engine.setRule(rule);
      naive.setRule(rule);
      rules += 1;
    } else if (act === 2) {
      const id = `R${random.between(0, 30)}`;
      count(engine, evaluated);
      engine.removeRule(id);
      naive.remove(id);
    } else {
      timeMs += choose(random, [0, 1, 999, 1_000, 5_000, 60_000]);
      const symbol = random.chance(0.2) ? '' : choose(random, SYMBOLS);
      const secondOfDay = Math.floor(timeMs / 1_000) % 86_400;
      const change = { symbol, timeMs, secondOfDay, values: valuesOf(random, symbol === '') };
      const fired = engine.apply(change);
      assert.deepEqual(fired, naive.apply(change), `${where}, step ${step}`);
      changes += 1;
      firings += fired.length;
    }
  }
  count(engine, evaluated);
  assert.equal(evaluated.ours, naive.evaluated, `${where}: evaluated`);
  return { rules, changes, firings };
}

function count(engine: RuleEngine, sums: { ours: number }): void {
  for (const { evaluated } of engine.takeCounts().values()) sums.ours += evaluated;
}

const valueOf = (random: Random, kind: ValueKind): Value => {
  if (random.chance(0.1)) return null;
  if (kind === 'number') return random.between(-2, 4) / 2;
  if (kind === 'string') return choose(random, WORDS);
  return kind === 'date' ? choose(random, DATES) : random.chance(0.5);
};

function valuesOf(random: Random, shared: boolean): Values {
  const names = Object.keys(KINDS).filter((name) => isShared(name) === shared && name !== 'time');
  const some = names.filter(() => random.chance(0.5));
  return Object.fromEntries(some.map((name) => [name, valueOf(random, KINDS[name] ?? 'number')]));
}

function ruleOf(random: Random, id: string): RunningRule {
  const conditions = Array.from({ length: random.between(1, 3) }, () => conditionOf(random));
  return {
    id,
    event: random.chance(0.3) ? ANY_SYMBOL : choose(random, SYMBOLS),
    match: choose(random, ['any', 'all'] as const),
    conditions: parseConditions(conditions, kindOf),
    alsoNames: random.chance(0.3)
      ? [
          choose(
            random,
            Object.keys(KINDS).filter((one) => one !== 'time'),
          ),
        ]
      : [],
    frequencyMs: choose(random, [1_000, 5_000, 60_000]),
    trigger: random.chance(0.3) ? 'edge' : 'level',
  };
}

function conditionOf(random: Random): readonly unknown[] {
  const name = choose(random, Object.keys(KINDS));
  const kind = KINDS[name] ?? 'number';
  if (kind === 'time') return [name, 'within', choose(random, SPANS)];
  if (kind === 'boolean') return [name, choose(random, ['true', 'false']), null];
  if (kind === 'event')
    return random.chance(0.5) ? [name, 'true'] : [name, '==', random.chance(0.5)];
  if (kind === 'number') {
    const right = random.chance(0.3)
      ? choose(random, ['average', 'volume'])
      : random.between(-2, 4) / 2;
    return [name, choose(random, ['>', '>=', '<', '<=', '==', '!=']), right];
  }
  if (kind === 'date') {
    const right = random.chance(0.3) ? 'next' : choose(random, DATES);
    return [name, choose(random, ['>', '>=', '<', '<=', '==']), right];
  }
  const right = random.chance(0.3) ? 'place' : choose(random, ['up', 'down', 'nothing']);
  return [name, choose(random, ['==', '!=']), right];
}

interface TrackedRule {
  readonly rule: RunningRule;
  readonly fired: Map<string, number>;
  readonly passed: Map<string, boolean>;
}

interface Change {
  readonly symbol: string;
  readonly timeMs: number;
  readonly secondOfDay: number;
  readonly values: Values;
}

/** A rule engine that checks all rules for each change. */
class NaiveRules {
  evaluated = 0;
  readonly #rules = new Map<string, TrackedRule>();
  /** Rules that were set, and have not run since. */
  readonly #fresh = new Set<string>();
  /** Names that any rule so far has used: values of others are not stored. */
  readonly #names = new Set<string>();
  readonly #latest = new Map<string, Map<string, Value>>();
  readonly #subjects = new Set<string>();

  setRule(rule: RunningRule): void {
    const before = this.#rules.get(rule.id);
    this.#rules.delete(rule.id);
    this.#rules.set(rule.id, {
      rule,
      fired: before?.fired ?? new Map(),
      passed: before?.passed ?? new Map(),
    });
    for (const name of namesIn(rule)) this.#names.add(name);
    this.#fresh.add(rule.id);
    if (rule.event !== ANY_SYMBOL) this.#subjects.add(rule.event);
  }

  remove(id: string): void {
    this.#rules.delete(id);
  }

  apply({ secondOfDay, symbol, timeMs, values }: Change): readonly object[] {
    const latestValues = this.#latest.get(symbol) ?? new Map<string, Value>();
    this.#latest.set(symbol, latestValues);
    if (symbol !== '') this.#subjects.add(symbol);
    const changed = Object.entries(values).filter(
      ([name, value]) => this.#names.has(name) && latestValues.get(name) !== value,
    );
    for (const [name, value] of changed) latestValues.set(name, value);
    const names = new Set(changed.map(([name]) => name));
    const fired: object[] = [];
    for (const one of this.#rules.values()) {
      const { event } = one.rule;
      const subjects =
        symbol !== '' ? [symbol] : event === ANY_SYMBOL ? [...this.#subjects] : [event];
      for (const subject of subjects) {
        if (event !== ANY_SYMBOL && event !== subject) continue;
        const isFresh = symbol === event && this.#fresh.has(one.rule.id);
        if (!isFresh && !this.#isRun(one.rule, names, symbol !== '')) continue;
        this.#fresh.delete(one.rule.id);
        const firing = this.#run(one, subject, timeMs, secondOfDay);
        if (firing !== undefined) fired.push(firing);
      }
    }
    return fired;
  }

  #isRun({ conditions }: RunningRule, changed: ReadonlySet<string>, isOwn: boolean): boolean {
    const read = conditions.flatMap(({ kind, name, right }) =>
      kind === 'time' ? [] : 'name' in right ? [name, right.name] : [name],
    );
    if (read.length === 0) return isOwn;
    return read.some((name) => changed.has(name));
  }

  #run(
    { fired, passed, rule }: TrackedRule,
    symbol: string,
    timeMs: number,
    second: number,
  ): object | undefined {
    this.evaluated += 1;
    const value = (name: string): Value =>
      this.#latest.get(isShared(name) ? '' : symbol)?.get(name) ?? null;
    const truths = rule.conditions.map((condition) => holds(condition, value, second));
    const passes = rule.match === 'any' ? truths.includes(true) : !truths.includes(false);
    const before = passed.get(symbol) === true;
    const last = fired.get(symbol);
    // The previous result of a rule is remembered from its first firing on.
    if (last !== undefined) passed.set(symbol, passes);
    if (!passes) return undefined;
    if (last !== undefined && timeMs - last < rule.frequencyMs) return undefined;
    if (rule.trigger === 'edge' && before) return undefined;
    fired.set(symbol, timeMs);
    passed.set(symbol, true);
    const entries = namesIn(rule).map((name) => [name, value(name)]);
    return { ruleId: rule.id, symbol, timeMs, values: Object.fromEntries(entries) };
  }
}

const namesIn = ({ alsoNames, conditions }: RunningRule): readonly string[] => [
  ...new Set([
    ...conditions.flatMap(({ name, right }) => ('name' in right ? [name, right.name] : [name])),
    ...alsoNames,
  ]),
];

function holds(
  { kind, name, operator, right }: Condition,
  value: (name: string) => Value,
  second: number,
): boolean {
  if (kind === 'time') {
    const [from = 0, to = 0] = String('literal' in right && right.literal)
      .split('-')
      .map((part) => {
        const [hours = 0, minutes = 0, seconds = 0] = part.trim().split(':').map(Number);
        return hours * 3_600 + minutes * 60 + seconds;
      });
    return from <= to ? second >= from && second <= to : second >= from || second <= to;
  }
  const left = kind === 'event' ? value(name) === true : value(name);
  const other = 'name' in right ? value(right.name) : right.literal;
  if (left === null || other === null) return false;
  if (operator === '>') return left > other;
  if (operator === '>=') return left >= other;
  if (operator === '<') return left < other;
  if (operator === '<=') return left <= other;
  return operator === '!=' ? left !== other : left === other;
}
