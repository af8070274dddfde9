// A group of rules whose callers have equal rights: one engine and one reader.
import { type Facts, type FactRequest, createFactRequest } from '../../market/rules/ruleFacts.ts';
import type { Rule } from '../../store/work/rules.ts';
import { ANY_SYMBOL, RuleEngine } from './ruleEngine.ts';
import { PrepareRounds } from './prepareRounds.ts';
import { isNamed, type NamedFact, parseNamedFact, type PropertyKind } from './runningRule.ts';

/** Reads the values of rules whose callers have equal rights. */
export interface RuleReader {
  readonly name: string;
  readonly propertyKind: PropertyKind;
  /** Messages that a value of a record adds to an alert. */
  readonly weightOfNamed: (fact: NamedFact) => number;
  /** Whether any of the values is of data that another account owns. */
  readonly isOfOthers: (names: readonly string[]) => boolean;
  /** Whether a change of the dataset changes what it reads. */
  readonly readsTable: (tableId: number, facts: readonly NamedFact[]) => boolean;
  /** Reads the records that values of the symbols are computed from, unless they are cached. */
  readonly prepare: (symbols: readonly string[]) => Promise<void>;
  /** Undefined where they were not read yet, or the symbol is unknown. */
  readonly facts: (symbol: string, request: FactRequest) => Facts | undefined;
  /** Current values of records. */
  readonly named: (facts: readonly NamedFact[]) => Promise<Facts>;
}

/** A group of rules in one engine. */
export interface Group {
  readonly reader: RuleReader;
  readonly engine: RuleEngine;
  readonly rules: Map<string, WeighedRule>;
  /** Values of named records and symbols, by their symbol; '' for records. */
  readonly named: Map<string, Map<string, NamedFact>>;
  /** Symbols to be read: true for changed ones, false for those that a rule is the first to read. */
  readonly requested: Map<string, boolean>;
  /** Values that any of its rules reads; computed again when rules are added or removed. */
  reads: FactRequest | undefined;
  isPreparing: boolean;
  readonly rounds: PrepareRounds;
}

export interface WeighedRule {
  readonly rule: Rule;
  readonly weight: number;
  readonly names: readonly string[];
  /** It reads data of another account. */
  readonly isPaid: boolean;
}

/** @param canPay whether an alert of a rule could be paid now */
export const newGroup = (reader: RuleReader, canPay: (ruleId: string) => boolean): Group => ({
  reader,
  engine: new RuleEngine(isNamed, canPay),
  rules: new Map(),
  named: new Map(),
  requested: new Map(),
  isPreparing: false,
  rounds: new PrepareRounds(),
  reads: undefined,
});

/** Values that its rules read of a symbol. */
export function factRequest(group: Group): FactRequest {
  if (group.reads !== undefined) return group.reads;
  const names = [...group.rules.values()].flatMap((weighed) => weighed.names);
  group.reads = createFactRequest(new Set(names.map((name) => parseNamedFact(name)?.fact ?? name)));
  return group.reads;
}

export function addNamed(group: Group, name: string): void {
  const fact = parseNamedFact(name);
  if (fact === undefined) return;
  const of = fact.namespace === 'STOCK' ? fact.entity.toUpperCase() : '';
  const facts = group.named.get(of) ?? new Map<string, NamedFact>();
  group.named.set(of, facts.set(name, fact));
}

/** Values of a symbol by the names under which rules read them. */
export const toNamedFacts = ({ named }: Group, symbol: string, facts: Facts): Facts =>
  Object.fromEntries(
    [...(named.get(symbol) ?? [])].map(([name, { fact }]) => [name, facts[fact] ?? null] as const),
  );

/** Whether it reads records of datasets, which have rights of their own. */
export const readsRecords = ({ rules }: Group, { id }: Rule): boolean =>
  (rules.get(id)?.names ?? []).some(
    (name) => isNamed(name) && parseNamedFact(name)?.namespace !== 'STOCK',
  );

/** Symbols that rules name. */
export const namedSymbols = ({ named, rules }: Group): ReadonlySet<string> =>
  new Set(
    [
      ...[...rules.values()].map(({ rule }) => rule.event),
      ...[...named.keys()].filter((symbol) => symbol !== ''),
    ].filter((event) => event !== ANY_SYMBOL && event !== ''),
  );
