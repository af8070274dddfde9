// The engine of rules: told which values changed, it runs the rules that read them, and tells which fire.
// It knows no clock, money or network, so that history runs through the same code.
import {
  compile,
  compileOne,
  type Known,
  type Match,
  type Place,
  type Test,
} from '../../query/rules/compiled.ts';
import { PlainConditions, type PlainRule } from '../../query/rules/plainConditions.ts';
import { type Condition, type Literal, namesOf } from '../../query/rules/conditions.ts';

/** In place of a symbol: whatever symbol anything changes of. */
export const ANY_SYMBOL = 'ANYEVENT';

export interface RunningRule {
  readonly id: string;
  /** A symbol, or `ANY_SYMBOL`. */
  readonly event: string;
  readonly match: Match;
  readonly conditions: readonly Condition[];
  /** Told of a firing, beside what the conditions read. */
  readonly alsoNames: readonly string[];
  /** Between two firings for one symbol. */
  readonly frequencyMs: number;
  /** Also while its conditions go on to hold, or only when they begin to. */
  readonly trigger: 'level' | 'edge';
  /**
   * It reads data of another account: nothing of a pass is visible before it is charged. It runs only when
   * a value changes, never because it was made, edited or resumed, and only while its account can pay for
   * an alert.
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

/** What happened to the values of one symbol, or with '' to named records. */
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

/** Where a rule stands with one symbol, to go on from. */
interface Stand {
  readonly symbol: string;
  readonly firedMs: number;
  /** What it told then: where that is so still, nothing happened since. */
  readonly values: Values | undefined;
}

/** Why a rule passes, or does not. */
interface Why {
  readonly passes: boolean;
  /** When it fired last for the symbol. */
  readonly firedMs: number | null;
  readonly values: Values;
  readonly conditions: readonly {
    readonly condition: readonly unknown[];
    readonly holds: boolean;
  }[];
}

const rightOf = ({ right }: Condition): Literal => ('name' in right ? right.name : right.literal);

interface Standing {
  firedMs: number;
  passed: boolean;
  /** Until it runs first after a start. */
  toldBefore: Values | undefined;
}

interface Run {
  readonly rule: RunningRule;
  readonly test: Test;
  /** In place of the test, where its conditions are plain ones. */
  readonly plain: PlainRule | undefined;
  readonly told: readonly (readonly [name: string, place: Place])[];
  readonly isAny: boolean;
  evaluated: number;
  passed: number;
  /** With its own symbol; looking it up in a map takes longer than to run the rule. */
  stand: Standing | undefined;
  /** By symbol, of a rule for all of them. */
  readonly stands: Map<string, Standing>;
  /** Change for which it was run last: no change runs it twice. */
  change: number;
  /** Its place among all: in this order firings of one change are told. */
  readonly order: number;
}

interface Subject {
  readonly own: (Literal | null | undefined)[];
  readonly known: Known;
  /** By the place of a value. */
  readonly readers: Map<number, Run[]>;
  readonly runs: Set<Run>;
  /** Rules that did not run since they were put: they do at the next word of the symbol, changed or not. */
  readonly fresh: Set<Run>;
}

interface Fired {
  readonly order: number;
  readonly firing: Firing;
}

/** Rules that read nothing but the time run at each change of their symbol. */
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

  /** @param isShared whether a name is of a named record @param canPay whether an alert would be paid now */
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

  /** Replaces one of the same id; its counts and the times of its firings stay. */
  put(rule: RunningRule, stands: readonly Stand[] = []): void {
    const before = this.#runs.get(rule.id);
    if (before !== undefined) this.remove(rule.id);
    const held = before === undefined ? new Map<string, Standing>() : standsOf(before);
    const names = [...namesOf(rule.conditions), ...rule.alsoNames];
    const run: Run = {
      rule,
      test: compile(rule.conditions, rule.match, (name) => this.#place(name)),
      plain: this.#plain.add(rule.conditions, rule.match, (name) => this.#place(name)),
      told: [...new Set(names)].map((name) => [name, this.#place(name)] as const),
      isAny: rule.event === ANY_SYMBOL,
      evaluated: 0,
      passed: 0,
      stand: held.get(rule.event),
      stands: held,
      change: 0,
      order: (this.#puts += 1),
    };
    // Whether it still holds is seen when it runs: what went on holding is no new beginning.
    for (const { firedMs, symbol, values } of stands) {
      keepStand(run, symbol, { firedMs, passed: true, toldBefore: values });
    }
    this.#runs.set(rule.id, run);
    this.#index(run, (readers) => readers.push(run));
    if (run.isAny) return;
    const subject = this.#subject(rule.event);
    subject.runs.add(run);
    if (rule.isPaid !== true) subject.fresh.add(run);
  }

  remove(id: string): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    this.#runs.delete(id);
    if (run.plain !== undefined) this.#plain.remove(run.plain);
    this.#index(run, (readers) => readers.splice(readers.indexOf(run), 1));
    const subject = this.#subjects.get(run.rule.event);
    subject?.runs.delete(run);
    subject?.fresh.delete(run);
  }

  /** Whether a change of the symbol can run any rule. */
  reads(symbol: string): boolean {
    return this.#anyReaders.size > 0 || (this.#subjects.get(symbol)?.runs.size ?? 0) > 0;
  }

  /** Runs what reads a value that is another one now; firings in the order in which the rules were put. */
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
    const places = this.#changedIn(subject.own, 'own', changed.values);
    places.push(AT_ANYTHING);
    for (const place of places) {
      this.#runAll(subject.readers.get(place), subject, changed, fired);
      this.#runAll(this.#anyReaders.get(place), subject, changed, fired);
    }
  }

  /** What holds already when a rule is put is worth as much as what begins to hold a moment later. */
  #runFresh(changed: Changed, fired: Fired[]): void {
    const subject = this.#subjects.get(changed.symbol);
    if (subject === undefined || subject.fresh.size === 0) return;
    for (const run of Array.from(subject.fresh)) {
      if (this.#isNew(run)) this.#run(run, subject, changed, fired);
    }
  }

  #runAll(
    runs: readonly Run[] | undefined,
    subject: Subject,
    changed: Changed,
    fired: Fired[],
  ): void {
    if (runs === undefined) return;
    for (const run of runs) if (this.#isNew(run)) this.#run(run, subject, changed, fired);
  }

  #applyShared(changed: Changed, fired: Fired[]): void {
    for (const place of this.#changedIn(this.#shared, 'shared', changed.values)) {
      for (const run of this.#sharedReaders.get(place) ?? []) {
        if (!this.#isNew(run)) continue;
        const symbols = run.isAny ? [...this.#subjects.keys()] : [run.rule.event];
        for (const symbol of symbols) {
          if (symbol === '' && run.isAny) continue;
          this.#run(run, this.#subject(symbol), { ...changed, symbol }, fired);
        }
      }
    }
  }

  #isNew(run: Run): boolean {
    if (run.change === this.#change) return false;
    run.change = this.#change;
    return true;
  }

  /** Counts since they were last taken, of rules that ran since. */
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

  /** Each condition of a rule with what it reads, and whether it holds; undefined for no rule. */
  why(id: string, symbol: string, secondOfDay: number): Why | undefined {
    const run = this.#runs.get(id);
    if (run === undefined) return undefined;
    const own = this.#subjects.get(symbol)?.own ?? [];
    const known: Known = { own, shared: this.#shared };
    const placeOf = (name: string): Place => this.#place(name);
    const { conditions } = run.rule;
    return {
      passes: run.test(known, secondOfDay),
      firedMs: standOf(run, symbol)?.firedMs ?? null,
      values: this.#told(run, known),
      conditions: conditions.map((condition) => ({
        condition: [condition.name, condition.operator, rightOf(condition)],
        holds: compileOne(condition, placeOf)(known, secondOfDay),
      })),
    };
  }

  #run(
    run: Run,
    { fresh, known }: Subject,
    { isNews, secondOfDay, symbol, timeMs }: Omit<Changed, 'values'>,
    fired: Fired[],
  ): void {
    const isPaid = run.rule.isPaid === true;
    if (isPaid && !(isNews !== false && this.#canPay(run.rule.id))) return;
    run.evaluated += 1;
    if (fresh.size > 0) fresh.delete(run);
    const { plain } = run;
    const passes =
      plain === undefined ? run.test(known, secondOfDay) : this.#plain.passes(plain, known);
    const stand = standOf(run, symbol);
    if (!passes) {
      if (stand !== undefined) {
        stand.passed = false;
        stand.toldBefore = undefined;
      }
      return;
    }
    // A pass that is charged is counted with its charge.
    if (!isPaid) run.passed += 1;
    const { frequencyMs, id, trigger } = run.rule;
    const before = stand?.toldBefore;
    const wasPassing = stand?.passed === true;
    if (stand !== undefined) {
      stand.passed = true;
      stand.toldBefore = undefined;
    }
    if (stand !== undefined && timeMs - stand.firedMs < frequencyMs) return;
    if (trigger === 'edge' && wasPassing) return;
    const values = this.#told(run, known);
    if (before !== undefined && isSame(before, values)) return;
    keepStand(run, symbol, { firedMs: timeMs, passed: true, toldBefore: undefined });
    fired.push({ order: run.order, firing: { ruleId: id, symbol, timeMs, values } });
  }

  #told(run: Run, known: Known): Values {
    return Object.fromEntries(run.told.map(([name, { at, of }]) => [name, known[of][at] ?? null]));
  }

  /** Places whose values are others now. */
  #changedIn(held: (Literal | null | undefined)[], of: keyof Known, values: Values): number[] {
    const places: number[] = [];
    for (const name in values) {
      const place = this.#places.get(name);
      if (place === undefined || place.of !== of || held[place.at] === values[name]) continue;
      held[place.at] = values[name];
      places.push(place.at);
    }
    return places;
  }

  #place(name: string): Place {
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const isShared = this.#isShared(name);
    const place: Place = isShared
      ? { of: 'shared', at: this.#shared.push(undefined) - 1 }
      : { of: 'own', at: this.#ownPlaces++ };
    this.#places.set(name, place);
    return place;
  }

  #index(run: Run, change: (readers: Run[]) => void): void {
    const places = namesOf(run.rule.conditions)
      .filter((name) => run.rule.conditions.some((one) => one.kind !== 'time' || one.name !== name))
      .map((name) => this.#place(name));
    const own = run.isAny ? this.#anyReaders : this.#subject(run.rule.event).readers;
    for (const { at, of } of places) changeAt(of === 'own' ? own : this.#sharedReaders, at, change);
    if (places.length === 0) changeAt(own, AT_ANYTHING, change);
  }

  #subject(symbol: string): Subject {
    const known = this.#subjects.get(symbol);
    if (known !== undefined) return known;
    const own: Subject['own'] = [];
    const all = { own, shared: this.#shared };
    const made: Subject = {
      own,
      known: all,
      readers: new Map(),
      runs: new Set(),
      fresh: new Set(),
    };
    this.#subjects.set(symbol, made);
    return made;
  }
}

function changeAt(index: Map<number, Run[]>, at: number, change: (readers: Run[]) => void): void {
  const readers = index.get(at) ?? [];
  change(readers);
  if (readers.length === 0) index.delete(at);
  else index.set(at, readers);
}

const standOf = (run: Run, symbol: string): Standing | undefined =>
  run.isAny ? run.stands.get(symbol) : run.stand;

function standsOf({ isAny, rule, stand, stands }: Run): Map<string, Standing> {
  if (!isAny && stand !== undefined) stands.set(rule.event, stand);
  return stands;
}

function keepStand(run: Run, symbol: string, stand: Standing): void {
  if (run.isAny) run.stands.set(symbol, stand);
  else run.stand = stand;
}

const isSame = (one: Values, other: Values): boolean =>
  Object.keys(other).every((name) => one[name] === other[name]);
