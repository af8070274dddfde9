// The rules of a server: loaded at its start, evaluated as values change, counted, and stopped with it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../store/accounts/callers.ts';
import type { Facts } from '../../market/rules/ruleFacts.ts';
import { secondOfDay } from '../../market/derive/exchangeTime.ts';
import type { Clock } from '../../store/base/clock.ts';
import { Failure, type FailureType, reasonOf } from '../../store/base/failure.ts';
import {
  listAllRules,
  insertRule,
  removeRule,
  type Rule,
  buildCountStatements,
  listFirings,
  saveRule,
} from '../../store/work/rules.ts';
import { runBatch } from '../../store/catalog/statementBatch.ts';
import { serialQueue } from '../../store/queues/serialQueue.ts';
import { Alerting, type AlertingParts } from './alerting.ts';
import { outputWeight } from './outputs.ts';
import type { RuleEngine } from './ruleEngine.ts';
import {
  addNamed,
  type Group,
  type WeighedRule,
  readsRecords,
  toNamedFacts,
  newGroup,
  factRequest,
  type RuleReader,
  namedSymbols,
} from './ruleGroup.ts';
import { checkLimits } from './ruleLimits.ts';
import { alertWeight, allNames, toRunningRule } from './runningRule.ts';
import { Solvency } from './solvency.ts';

interface RulesParts extends Omit<AlertingParts, 'isPaid'> {
  readonly clock: Clock;
  /** @throws Failure of what the caller may not read */
  readonly readerOf: (caller: Caller) => RuleReader;
  /** Starts the sources of changes: rules need them from now on. */
  readonly wake: () => Promise<void>;
}

/** Interval at which counts are written and rights checked. */
const CHECK_MS = 5_000;
/** Longest wait of a read of rules for changes that arrived before it. */
const READ_WAIT_MS = 2_000;
/** Failures that end when the account or token is enabled again. */
const RECOVERABLE: readonly FailureType[] = ['Inactive', 'DisabledKey'];

export class Rules {
  readonly #parts: RulesParts;
  readonly #alerting: Alerting;
  readonly #rules = new Map<string, Rule>();
  readonly #groups = new Map<string, Group>();
  #timer: NodeJS.Timeout | undefined;
  #counting: Promise<void> = Promise.resolve();
  readonly #adding = serialQueue();
  readonly #solvency: Solvency;

  constructor(parts: RulesParts) {
    this.#parts = parts;
    const findWeighed = (id: string): WeighedRule | undefined => this.#findWeighed(id);
    this.#alerting = new Alerting({ ...parts, isPaid: (id) => findWeighed(id)?.isPaid === true });
    this.#solvency = new Solvency(parts.clock, findWeighed, (weighed) =>
      this.#alerting.unpaid(weighed),
    );
  }

  /** Loads all rules, without running them. */
  async load(): Promise<void> {
    for (const rule of await listAllRules(this.#parts.database)) this.#rules.set(rule.id, rule);
  }

  /** Runs the loaded rules. */
  async start(): Promise<void> {
    for (const rule of Array.from(this.#rules.values())) {
      if (!rule.isActive) continue;
      await this.#run(rule).catch((error: unknown) => this.#pauseAfterFault(rule, error));
    }
    if (this.#groups.size > 0) await this.#parts.wake();
    this.#timer = setInterval(() => void this.runChecks(), CHECK_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.count();
    await this.#alerting.settled();
  }

  find(id: string): Rule | undefined {
    return this.#rules.get(id);
  }

  /** Oldest first. */
  ofAccount(accountId: string): readonly Rule[] {
    return [...this.#rules.values()].filter((rule) => rule.accountId === accountId);
  }

  /** Messages of one alert. @throws Failure of what is wrong with the rule */
  weigh(rule: Rule): number {
    const weighed = this.#findWeighed(rule.id);
    return (weighed?.rule === rule ? weighed : this.#weighRule(rule, this.#findReader(rule)))
      .weight;
  }

  #findWeighed(id: string): WeighedRule | undefined {
    for (const { rules } of this.#groups.values()) {
      const weighed = rules.get(id);
      if (weighed !== undefined) return weighed;
    }
    return undefined;
  }

  /** Messages of its values alone. */
  weighValues(rule: Rule): number {
    return this.weigh(rule) - outputWeight(rule.body);
  }

  /** Adds a rule and runs it. @throws Failure of what is wrong with it; then nothing was created */
  async add(rule: Rule): Promise<void> {
    this.weigh(rule);
    await this.#adding(async () => {
      this.#checkRoom(rule);
      await insertRule(this.#parts.database, rule);
      this.#rules.set(rule.id, rule);
    });
    await this.#parts.wake();
    await this.#run(rule);
  }

  /** Replaces the rule of the same id, whose counters and cool-downs stay. */
  async change(rule: Rule): Promise<void> {
    if (rule.isActive) this.weigh(rule);
    this.#checkRoom(rule);
    await this.count();
    await saveRule(this.#parts.database, rule);
    this.#unregister(rule.id);
    this.#rules.set(rule.id, rule);
    if (!rule.isActive) return;
    await this.#parts.wake();
    await this.#run(rule);
  }

  /** Pauses a rule, not by its owner. @param note why */
  pause(rule: Rule, note: string): Promise<void> {
    return this.change({ ...rule, isActive: false, note, updatedMs: this.#parts.clock() });
  }

  async remove(id: string): Promise<void> {
    await this.count();
    this.#unregister(id);
    this.#rules.delete(id);
    await this.#alerting.settled();
    await removeRule(this.#parts.database, id);
  }

  /** Current values of a rule, and which of its conditions hold; undefined while it does not run. */
  explain(id: string, symbol: string): ReturnType<RuleEngine['explain']> {
    for (const group of this.#groups.values()) {
      if (group.rules.has(id))
        return group.engine.explain(id, symbol, secondOfDay(this.#parts.clock()));
    }
    return undefined;
  }

  /** A tick changed the symbol. */
  changed(symbol: string): void {
    for (const group of this.#groups.values()) {
      if (!group.engine.reads(symbol) && !group.named.has(symbol)) continue;
      const facts = group.reader.facts(symbol, factRequest(group));
      if (facts === undefined) this.#request(group, symbol, true);
      else {
        this.#apply(group, symbol, facts, true);
        if (group.named.has(symbol))
          this.#apply(group, '', toNamedFacts(group, symbol, facts), true);
      }
    }
  }

  /** Records of these tables changed: values computed from them are read again. */
  tablesChanged(tableIds: readonly number[]): void {
    for (const group of this.#groups.values()) {
      const records = [...(group.named.get('')?.values() ?? [])];
      if (!tableIds.some((id) => group.reader.readsTable(id, records))) continue;
      for (const symbol of namedSymbols(group)) this.#request(group, symbol, true);
      if (records.length > 0) this.#request(group, '', true);
    }
  }

  /** Writes counts, and pauses rules that can't pay or whose token may not read their values any more. */
  async runChecks(): Promise<void> {
    await this.count();
    await this.#pauseUnpaid().catch((error: unknown) => this.#parts.onFault(error));
    await this.#recheck().catch((error: unknown) => this.#parts.onFault(error));
  }

  /** Writes counts. */
  count(): Promise<void> {
    this.#counting = this.#counting
      .then(() => this.#count())
      .catch((error: unknown) => this.#parts.onFault(error));
    return this.#counting;
  }

  /** Resolves when earlier changes were read, and the rules that read them evaluated. */
  async prepared(): Promise<void> {
    const groups = [...this.#groups.values()];
    await Promise.all(groups.map(({ rounds, requested }) => rounds.past(requested.size > 0)));
  }

  /** Resolves when earlier firings are recorded, and evaluations counted. */
  async settled(): Promise<void> {
    await this.prepared();
    await this.count();
    await this.#alerting.settled();
  }

  /** The same with a deadline, for a read that returns what is recorded by then. */
  async recorded(): Promise<void> {
    const ended = new AbortController();
    const deadline = sleep(READ_WAIT_MS, undefined, { signal: ended.signal, ref: false });
    await Promise.race([this.settled(), deadline]);
    ended.abort();
    await deadline.catch(() => undefined);
  }

  async #run(rule: Rule): Promise<void> {
    const reader = this.#findReader(rule);
    const weighed = this.#weighRule(rule, reader);
    const failure = this.#solvency.check(weighed);
    if (failure !== undefined) return this.#pauseAfterFault(rule, failure);
    const group =
      this.#groups.get(reader.name) ?? newGroup(reader, (id) => this.#solvency.canPay(id));
    this.#groups.set(reader.name, group);
    const stands = await listFirings(this.#parts.database, rule.id);
    const running = { ...toRunningRule(rule, reader.propertyKind), isPaid: weighed.isPaid };
    group.engine.setRule(running, stands);
    group.rules.set(rule.id, weighed);
    group.reads = undefined;
    for (const name of weighed.names) addNamed(group, name);
    for (const symbol of namedSymbols(group)) {
      if (symbol === rule.event || group.named.has(symbol)) this.#request(group, symbol, false);
    }
    if (group.named.has('')) this.#request(group, '', false);
  }

  #unregister(id: string): void {
    for (const [name, group] of this.#groups) {
      if (!group.rules.delete(id)) continue;
      group.reads = undefined;
      group.engine.removeRule(id);
      if (group.rules.size === 0) this.#groups.delete(name);
    }
  }

  /** @throws Failure LimitReached. */
  #checkRoom(rule: Rule): void {
    checkLimits(
      rule,
      this.ofAccount(rule.accountId).filter(({ id }) => id !== rule.id),
    );
  }

  /** Applies changed rights: a rule continues with its token's current ones, or is paused. */
  async #recheck(): Promise<void> {
    const readers = new Map<string, RuleReader | Failure>();
    for (const group of Array.from(this.#groups.values())) {
      for (const { rule } of Array.from(group.rules.values())) {
        const reader = readers.get(rule.tokenId) ?? this.#tryReader(rule);
        readers.set(rule.tokenId, reader);
        if (reader instanceof Failure) {
          // Its alerts are refused one by one until the account or token is enabled.
          if (!RECOVERABLE.includes(reader.type)) await this.#pauseAfterFault(rule, reader);
        } else if (reader.name !== group.reader.name || readsRecords(group, rule)) {
          await this.#regroup(rule, reader, group);
        }
      }
    }
  }

  async #regroup(rule: Rule, reader: RuleReader, group: Group): Promise<void> {
    try {
      this.#weighRule(rule, reader);
      if (reader.name === group.reader.name) return;
      this.#unregister(rule.id);
      await this.#run(rule);
    } catch (error) {
      await this.#pauseAfterFault(rule, error);
    }
  }

  /** Pauses rules over data of others that can't pay their next alert, before they are evaluated again. */
  async #pauseUnpaid(): Promise<void> {
    const all = [...this.#groups.values()].flatMap(({ rules }) => [...rules.values()]);
    for (const weighed of all) {
      const failure = this.#solvency.check(weighed);
      if (failure !== undefined) await this.#pauseAfterFault(weighed.rule, failure);
    }
  }

  #tryReader(rule: Rule): RuleReader | Failure {
    try {
      return this.#findReader(rule);
    } catch (error) {
      if (error instanceof Failure) return error;
      throw error;
    }
  }

  #findReader({ tokenId }: Rule): RuleReader {
    return this.#parts.readerOf(this.#parts.accounts.callerById(tokenId));
  }

  #weighRule(rule: Rule, reader: RuleReader): WeighedRule {
    const names = allNames(toRunningRule(rule, reader.propertyKind));
    const output = outputWeight(rule.body);
    const weight = alertWeight(names, output, reader.weightOfNamed);
    return { rule, names, weight, isPaid: reader.isOfOthers(names) };
  }

  async #pauseAfterFault(rule: Rule, error: unknown): Promise<void> {
    const note = reasonOf(error);
    this.#unregister(rule.id);
    const paused = { ...rule, isActive: false, note };
    this.#rules.set(rule.id, paused);
    await saveRule(this.#parts.database, paused);
    this.#parts.onFault(new Error(`rule ${rule.id} is paused: ${note}`));
  }

  #request(group: Group, symbol: string, isNews: boolean): void {
    group.requested.set(symbol, isNews || group.requested.get(symbol) === true);
    if (group.isPreparing) return;
    group.isPreparing = true;
    // One round for all requests of this turn.
    queueMicrotask(() => void this.#prepare(group));
  }

  async #prepare(group: Group): Promise<void> {
    try {
      while (group.requested.size > 0) await this.#prepareRound(group);
    } finally {
      group.isPreparing = false;
    }
  }

  async #prepareRound(group: Group): Promise<void> {
    const requestedSymbols = new Map(group.requested);
    group.requested.clear();
    const end = group.rounds.begin();
    try {
      const symbols = [...requestedSymbols.keys()];
      const records = [...(group.named.get('')?.values() ?? [])];
      const isOfRecords = symbols.includes('') && records.length > 0;
      const named = isOfRecords ? await group.reader.named(records) : {};
      const others = symbols.filter((symbol) => symbol !== '');
      await group.reader.prepare(others);
      const loaded = others.flatMap((symbol) => {
        const facts = group.reader.facts(symbol, factRequest(group));
        return facts === undefined ? [] : [{ symbol, facts }];
      });
      // All of them together: a rule of several symbols is evaluated once, when it has them all.
      const shared = loaded.map(({ facts, symbol }) => toNamedFacts(group, symbol, facts));
      const isNews = [...requestedSymbols.values()].includes(true);
      this.#apply(group, '', Object.assign({}, named, ...shared) as Facts, isNews);
      for (const { facts, symbol } of loaded) {
        this.#apply(group, symbol, facts, requestedSymbols.get(symbol) === true);
      }
    } catch (error) {
      this.#parts.onFault(error);
    } finally {
      end();
    }
  }

  /** @param symbol '' for values of named symbols and records */
  #apply(group: Group, symbol: string, values: Facts, isNews: boolean): void {
    const timeMs = this.#parts.clock();
    const changed = { symbol, values, timeMs, secondOfDay: secondOfDay(timeMs), isNews };
    for (const firing of group.engine.apply(changed)) {
      const weighed = group.rules.get(firing.ruleId);
      if (weighed !== undefined) this.#alerting.fired(weighed, firing);
    }
  }

  async #count(): Promise<void> {
    const { clock, database, days } = this.#parts;
    const day = days.day(clock());
    for (const group of this.#groups.values()) {
      const counts = [...group.engine.takeCounts()];
      if (counts.length === 0) continue;
      await database.transaction().execute(async (transaction) => {
        const pieces = counts.flatMap(([id, { evaluated, passed }]) => {
          const rule = this.#rules.get(id);
          const did = { evaluated, passed, alerts: 0, sent: 0, told: 0 };
          return rule === undefined ? [] : buildCountStatements(transaction, rule, day, did);
        });
        await runBatch(transaction, pieces);
      });
    }
  }
}
