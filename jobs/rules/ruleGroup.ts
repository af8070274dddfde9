// Rules of callers with equal rights: one engine, and what it must be told of.
import { type Facts, type FactsWanted, factsWanted } from '../../market/rules/ruleFacts.ts';
import type { Rule } from '../../store/work/rules.ts';
import { ANY_SYMBOL, RuleEngine } from './ruleEngine.ts';
import { PrepareRounds } from './prepareRounds.ts';
import { isNamed, type NamedFact, namedFact, type PropertyKind } from './runningRule.ts';

/** What rules of callers with equal rights read. */
export interface RuleReader {
  readonly name: string;
  readonly propertyKind: PropertyKind;
  /** Messages that a value of a record adds to an alert. */
  readonly weightOfNamed: (fact: NamedFact) => number;
  /** Whether some of the values are of data that another account owns. */
  readonly isOfOthers: (names: readonly string[]) => boolean;
  /** Whether a change of the dataset changes what it reads. */
  readonly readsTable: (tableId: number, facts: readonly NamedFact[]) => boolean;
  /** Reads what values of the symbols are made of, where that is not known yet. */
  readonly prepare: (symbols: readonly string[]) => Promise<void>;
  /** Undefined where that was not read yet, or nothing is known of the symbol. */
  readonly facts: (symbol: string, wanted: FactsWanted) => Facts | undefined;
  /** Values of records now. */
  readonly named: (facts: readonly NamedFact[]) => Promise<Facts>;
}

/** Rules of callers with equal rights, in one engine. */
export interface Group {
  readonly reader: RuleReader;
  readonly engine: RuleEngine;
  readonly rules: Map<string, Held>;
  /** Values of named records and symbols, by the symbol that they are of; '' for records. */
  readonly named: Map<string, Map<string, NamedFact>>;
  /** Symbols to be read: true for those that changed, false for those that a rule is the first to read. */
  readonly wanted: Map<string, boolean>;
  /** Values that any of its rules reads; made anew when rules come or go. */
  reads: FactsWanted | undefined;
  isPreparing: boolean;
  readonly rounds: PrepareRounds;
}

export interface Held {
  readonly rule: Rule;
  readonly weight: number;
  readonly names: readonly string[];
  /** It reads data of another account. */
  readonly isPaid: boolean;
}

/** @param canPay whether an alert of a rule would be paid now */
export const newGroup = (reader: RuleReader, canPay: (ruleId: string) => boolean): Group => ({
  reader,
  engine: new RuleEngine(isNamed, canPay),
  rules: new Map(),
  named: new Map(),
  wanted: new Map(),
  isPreparing: false,
  rounds: new PrepareRounds(),
  reads: undefined,
});

/** What its rules read of a symbol. */
export function readsOf(group: Group): FactsWanted {
  if (group.reads !== undefined) return group.reads;
  const names = [...group.rules.values()].flatMap((held) => held.names);
  group.reads = factsWanted(new Set(names.map((name) => namedFact(name)?.fact ?? name)));
  return group.reads;
}

export function addNamed(group: Group, name: string): void {
  const fact = namedFact(name);
  if (fact === undefined) return;
  const of = fact.namespace === 'STOCK' ? fact.entity.toUpperCase() : '';
  const known = group.named.get(of) ?? new Map<string, NamedFact>();
  group.named.set(of, known.set(name, fact));
}

/** Values of a symbol by the names under which rules read them. */
export const namedOf = ({ named }: Group, symbol: string, facts: Facts): Facts =>
  Object.fromEntries(
    [...(named.get(symbol) ?? [])].map(([name, { fact }]) => [name, facts[fact] ?? null] as const),
  );

/** Whether it reads records of datasets, which have rights of their own. */
export const isOfRecords = ({ rules }: Group, { id }: Rule): boolean =>
  (rules.get(id)?.names ?? []).some(
    (name) => isNamed(name) && namedFact(name)?.namespace !== 'STOCK',
  );

/** Symbols that rules name. */
export const symbolsOf = ({ named, rules }: Group): ReadonlySet<string> =>
  new Set(
    [
      ...[...rules.values()].map(({ rule }) => rule.event),
      ...[...named.keys()].filter((symbol) => symbol !== ''),
    ].filter((event) => event !== ANY_SYMBOL && event !== ''),
  );
