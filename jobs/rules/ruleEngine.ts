// The engine of rules: receives changed values, evaluates the rules that read them, and returns their
// firings. It has no clock, money or network, so that a backtest runs the same code.
import {
  compile,
  compileCondition,
  type CurrentValues,
  type Match,
  type Place,
  type Test,
} from '../../query/rules/compiled.ts';
import { PlainConditions, type PlainRule } from '../../query/rules/plainConditions.ts';
import { type Condition, type Literal, conditionNames } from '../../query/rules/conditions.ts';

/** Event of a rule that is evaluated for every symbol. */
export const ANY_SYMBOL = 'ANYEVENT';

export interface RunningRule {
  readonly id: string;
  /** A symbol, or `ANY_SYMBOL`. */
  readonly event: string;
  readonly match: Match;
  readonly conditions: readonly Condition[];
  /** Values of a firing, besides those that the conditions read. */
  readonly alsoNames: readonly string[];
  /** Between two firings for one symbol. */
  readonly frequencyMs: number;
  /** Fires while its conditions hold, or only when they begin to. */
  readonly trigger: 'level' | 'edge';
  /**
   * It reads data of another account: nothing of a pass is visible before it is charged. It is evaluated only
   * when a value changes, never because it was created, edited or resumed, and only while its account can pay
   * for an alert.
   */
  readonly isPaid?: boolean;
}

type Values = Readonly<Record<string, Literal | null>>;

export interface Firing {
  readonly ruleId: string;
  readonly symbol: string;
  readonly timeMs: number;
  readonly values: Values;
}

/** A change of the values of one symbol, or with '' of named records. */
interface Changed {
  readonly symbol: string;
  readonly timeMs: number;
  /** Seconds since midnight in the exchange's zone. */
  readonly secondOfDay: number;
  readonly values: Values;
  /** False: the values were read for the first time, and did not change. */
  readonly isNews?: boolean;
}

interface Counts {
  readonly evaluated: number;
  readonly passed: number;
}

/** Stored state of a rule for one symbol, to resume from. */
interface StoredState {
  readonly symbol: string;
  readonly firedMs: number;
  /** The values of that firing: while they are the same, nothing has changed since. */
  readonly values: Values | undefined;
}

/** Explains why a rule passes, or does not. */
interface Why {
  readonly passes: boolean;
  /** Time of the last firing for the symbol. */
  readonly firedMs: number | null;
  readonly values: Values;
  readonly conditions: readonly {
    readonly condition: readonly unknown[];
    readonly holds: boolean;
  }[];
}

const rightOperand = ({ right }: Condition): Literal =>
  'name' in right ? right.name : right.literal;

interface SymbolState {
  firedMs: number;
  passed: boolean;
  /** Until its first evaluation after a start. */
  lastValues: Values | undefined;
}

interface Run {
  readonly rule: RunningRule;
  readonly test: Test;
  /** Replaces the test, where all its conditions are plain. */
  readonly plain: PlainRule | undefined;
  readonly reportedValues: readonly (readonly [name: string, place: Place])[];
  readonly isAny: boolean;
  evaluated: number;
  passed: number;
  /** State for its own symbol; a map lookup takes longer than the evaluation. */
  state: SymbolState | undefined;
  /** By symbol, for a rule of all symbols. */
  readonly states: Map<string, SymbolState>;
  /** The last change that evaluated it: no change does so twice. */
  change: number;
  /** Position among all rules: firings of one change are in this order. */
  readonly order: number;
}

interface Subject {
  readonly own: (Literal | null | undefined)[];
  readonly inputs: CurrentValues;
  /** By the place of a value. */
  readonly readers: Map<number, Run[]>;
  readonly runs: Set<Run>;
  /**
   * Rules that were not evaluated since they were put: the next message of the symbol does so, changed or
   * not.
   */
  readonly fresh: Set<Run>;
}

interface Fired {
  readonly order: number;
  readonly firing: Firing;
}

/** Place of rules that read only the time: they are evaluated at each change of their symbol. */
const AT_ANYTHING = -1;

export class RuleEngine {
  readonly #runs = new Map<string, Run>();
  readonly #subjects = new Map<string, Subject>();
  readonly #anyReaders = new Map<number, Run[]>();
  readonly #sharedReaders = new Map<number, Run[]>();
  readonly #places = new Map<string, Place>();
  readonly #shared: (Literal | null | undefined)[] = [];
  readonly #isShared: (name: string) => boolean;
  readonly #canPay: (ruleId: string) => boolean;
  readonly #plain = new PlainConditions();
  #ownPlaces = 0;
  #puts = 0;
  #change = 0;

  /**
   * @param isShared whether a name is of a named record
   * @param canPay whether an alert could be paid now
   */
  constructor(
    isShared: (name: string) => boolean = () => false,
    canPay: (ruleId: string) => boolean = () => true,
  ) {
    this.#isShared = isShared;
    this.#canPay = canPay;
  }

  get size(): number {
    return this.#runs.size;
  }

  /** Adds a rule, or replaces the one of the same id, whose counts and firing times stay. */
  setRule(rule: RunningRule, storedStates: readonly StoredState[] = []): void {
    const before = this.#runs.get(rule.id);
    if (before !== undefined) this.removeRule(rule.id);
    const earlierStates =
      before === undefined ? new Map<string, SymbolState>() : collectStates(before);
    const names = [...conditionNames(rule.conditions), ...rule.alsoNames];
    const run: Run = {
      rule,
      test: compile(rule.conditions, rule.match, (name) => this.#place(name)),
      plain: this.#plain.add(rule.conditions, rule.match, (name) => this.#place(name)),
      reportedValues: [...new Set(names)].map((name) => [name, this.#place(name)] as const),
      isAny: rule.event === ANY_SYMBOL,
      evaluated: 0,
      passed: 0,
      state: earlierStates.get(rule.event),
      states: earlierStates,
      change: 0,
      order: (this.#puts += 1),
    };
    // Its next evaluation shows whether it still holds: conditions that went on holding are no new beginning.
    for (const { firedMs, symbol, values } of storedStates) {
      setState(run, symbol, { firedMs, passed: true, lastValues: values });
    }
    this.#runs.set(rule.id, run);
    this.#index(run, (readers) => readers.push(run));
    if (run.isAny) return;
    const subject = this.#subject(rule.event);
    subject.runs.add(run);
    if (rule.isPaid !== true) subject.fresh.add(run);
  }

  removeRule(id: string): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    this.#runs.delete(id);
    if (run.plain !== undefined) this.#plain.remove(run.plain);
    this.#index(run, (readers) => readers.splice(readers.indexOf(run), 1));
    const subject = this.#subjects.get(run.rule.event);
    subject?.runs.delete(run);
    subject?.fresh.delete(run);
  }

  /** Whether a change of the symbol can evaluate any rule. */
  reads(symbol: string): boolean {
    return this.#anyReaders.size > 0 || (this.#subjects.get(symbol)?.runs.size ?? 0) > 0;
  }

  /**
   * Evaluates the rules that read a changed value; returns firings in the order in which the rules were put.
   */
  apply(changed: Changed): readonly Firing[] {
    this.#change += 1;
    const fired: Fired[] = [];
    if (changed.symbol === '') this.#applyShared(changed, fired);
    else this.#applyOwn(changed, fired);
    this.#runFresh(changed, fired);
    if (fired.length > 1) fired.sort((one, other) => one.order - other.order);
    return fired.map(({ firing }) => firing);
  }

  #applyOwn(changed: Changed, fired: Fired[]): void {
    const subject = this.#subject(changed.symbol);
    const places = this.#updateValues(subject.own, 'own', changed.values);
    places.push(AT_ANYTHING);
    for (const place of places) {
      this.#runAll(subject.readers.get(place), subject, changed, fired);
      this.#runAll(this.#anyReaders.get(place), subject, changed, fired);
    }
  }

  /** Conditions that hold when a rule is put count like conditions that begin to hold a moment later. */
  #runFresh(changed: Changed, fired: Fired[]): void {
    const subject = this.#subjects.get(changed.symbol);
    if (subject === undefined || subject.fresh.size === 0) return;
    for (const run of Array.from(subject.fresh)) {
      if (this.#markEvaluated(run)) this.#run(run, subject, changed, fired);
    }
  }

  #runAll(
    runs: readonly Run[] | undefined,
    subject: Subject,
    changed: Changed,
    fired: Fired[],
  ): void {
    if (runs === undefined) return;
    for (const run of runs) if (this.#markEvaluated(run)) this.#run(run, subject, changed, fired);
  }

  #applyShared(changed: Changed, fired: Fired[]): void {
    for (const place of this.#updateValues(this.#shared, 'shared', changed.values)) {
      for (const run of this.#sharedReaders.get(place) ?? []) {
        if (!this.#markEvaluated(run)) continue;
        const symbols = run.isAny ? [...this.#subjects.keys()] : [run.rule.event];
        for (const symbol of symbols) {
          if (symbol === '' && run.isAny) continue;
          this.#run(run, this.#subject(symbol), { ...changed, symbol }, fired);
        }
      }
    }
  }

  #markEvaluated(run: Run): boolean {
    if (run.change === this.#change) return false;
    run.change = this.#change;
    return true;
  }

  /** Returns and resets the counts of rules that were evaluated since the last call. */
  takeCounts(): ReadonlyMap<string, Counts> {
    const counts = new Map<string, Counts>();
    for (const [id, run] of this.#runs) {
      if (run.evaluated === 0) continue;
      counts.set(id, { evaluated: run.evaluated, passed: run.passed });
      run.evaluated = 0;
      run.passed = 0;
    }
    return counts;
  }

  /** Each condition of a rule with its values, and whether it holds; undefined for an unknown rule. */
  explain(id: string, symbol: string, secondOfDay: number): Why | undefined {
    const run = this.#runs.get(id);
    if (run === undefined) return undefined;
    const own = this.#subjects.get(symbol)?.own ?? [];
    const inputs: CurrentValues = { own, shared: this.#shared };
    const placeOf = (name: string): Place => this.#place(name);
    const { conditions } = run.rule;
    return {
      passes: run.test(inputs, secondOfDay),
      firedMs: getState(run, symbol)?.firedMs ?? null,
      values: this.#collectValues(run, inputs),
      conditions: conditions.map((condition) => ({
        condition: [condition.name, condition.operator, rightOperand(condition)],
        holds: compileCondition(condition, placeOf)(inputs, secondOfDay),
      })),
    };
  }

  #run(
    run: Run,
    { fresh, inputs }: Subject,
    { isNews, secondOfDay, symbol, timeMs }: Omit<Changed, 'values'>,
    fired: Fired[],
  ): void {
    const isPaid = run.rule.isPaid === true;
    if (isPaid && !(isNews !== false && this.#canPay(run.rule.id))) return;
    run.evaluated += 1;
    if (fresh.size > 0) fresh.delete(run);
    const { plain } = run;
    const passes =
      plain === undefined ? run.test(inputs, secondOfDay) : this.#plain.passes(plain, inputs);
    const state = getState(run, symbol);
    if (!passes) {
      if (state !== undefined) {
        state.passed = false;
        state.lastValues = undefined;
      }
      return;
    }
    // A charged pass is counted with its charge.
    if (!isPaid) run.passed += 1;
    const { frequencyMs, id, trigger } = run.rule;
    const before = state?.lastValues;
    const wasPassing = state?.passed === true;
    if (state !== undefined) {
      state.passed = true;
      state.lastValues = undefined;
    }
    if (state !== undefined && timeMs - state.firedMs < frequencyMs) return;
    if (trigger === 'edge' && wasPassing) return;
    const values = this.#collectValues(run, inputs);
    if (before !== undefined && isSame(before, values)) return;
    setState(run, symbol, { firedMs: timeMs, passed: true, lastValues: undefined });
    fired.push({ order: run.order, firing: { ruleId: id, symbol, timeMs, values } });
  }

  #collectValues(run: Run, inputs: CurrentValues): Values {
    return Object.fromEntries(
      run.reportedValues.map(([name, { at, of }]) => [name, inputs[of][at] ?? null]),
    );
  }

  /** Stores the values and returns the places of those that changed. */
  #updateValues(
    current: (Literal | null | undefined)[],
    of: keyof CurrentValues,
    values: Values,
  ): number[] {
    const places: number[] = [];
    for (const name in values) {
      const place = this.#places.get(name);
      if (place === undefined || place.of !== of || current[place.at] === values[name]) continue;
      current[place.at] = values[name];
      places.push(place.at);
    }
    return places;
  }

  #place(name: string): Place {
    const existing = this.#places.get(name);
    if (existing !== undefined) return existing;
    const isShared = this.#isShared(name);
    const place: Place = isShared
      ? { of: 'shared', at: this.#shared.push(undefined) - 1 }
      : { of: 'own', at: this.#ownPlaces++ };
    this.#places.set(name, place);
    return place;
  }

  #index(run: Run, change: (readers: Run[]) => void): void {
    const places = conditionNames(run.rule.conditions)
      .filter((name) => run.rule.conditions.some((one) => one.kind !== 'time' || one.name !== name))
      .map((name) => this.#place(name));
    const own = run.isAny ? this.#anyReaders : this.#subject(run.rule.event).readers;
    for (const { at, of } of places)
      updateIndex(of === 'own' ? own : this.#sharedReaders, at, change);
    if (places.length === 0) updateIndex(own, AT_ANYTHING, change);
  }

  #subject(symbol: string): Subject {
    const existing = this.#subjects.get(symbol);
    if (existing !== undefined) return existing;
    const own: Subject['own'] = [];
    const all = { own, shared: this.#shared };
    const subject: Subject = {
      own,
      inputs: all,
      readers: new Map(),
      runs: new Set(),
      fresh: new Set(),
    };
    this.#subjects.set(symbol, subject);
    return subject;
  }
}

function updateIndex(
  index: Map<number, Run[]>,
  at: number,
  change: (readers: Run[]) => void,
): void {
  const readers = index.get(at) ?? [];
  change(readers);
  if (readers.length === 0) index.delete(at);
  else index.set(at, readers);
}

const getState = (run: Run, symbol: string): SymbolState | undefined =>
  run.isAny ? run.states.get(symbol) : run.state;

function collectStates({ isAny, rule, state, states }: Run): Map<string, SymbolState> {
  if (!isAny && state !== undefined) states.set(rule.event, state);
  return states;
}

function setState(run: Run, symbol: string, state: SymbolState): void {
  if (run.isAny) run.states.set(symbol, state);
  else run.state = state;
}

const isSame = (one: Values, other: Values): boolean =>
  Object.keys(other).every((name) => one[name] === other[name]);
