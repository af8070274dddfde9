// A rule as the engine takes it: its names resolved, its conditions checked against what values are now.
import { ruleValue } from '../../market/rules/ruleValues.ts';
import { type Condition, conditionsOf, namesOf } from '../../query/rules/conditions.ts';
import type { ValueKind } from '../../query/rules/operators.ts';
import { Failure } from '../../store/base/failure.ts';
import type { Rule, RuleBody } from '../../store/work/rules.ts';
import type { RunningRule } from './ruleEngine.ts';

/** A value of a named symbol or record: `CORE:STOCK:AAPL:latestPrice`, `WORKSPACE:DATASET:KEY:PROPERTY`. */
export interface NamedFact {
  readonly name: string;
  readonly workspace: string;
  /** `STOCK`, or the id of a dataset. */
  readonly namespace: string;
  readonly entity: string;
  readonly fact: string;
}

/** What a property of a dataset is; undefined where its caller can't read one of that name. */
export type PropertyKind = (fact: NamedFact) => ValueKind | undefined;

const NAME_MAX = 500;

/** Undefined for a value of the rule's own symbol. @throws Failure InvalidParameter for a name cut short. */
export function namedFact(name: string): NamedFact | undefined {
  if (!name.includes(':')) return undefined;
  const [workspace = '', namespace = '', entity = '', ...rest] = name.split(':');
  const fact = rest.join(':');
  const isWhole = workspace !== '' && namespace !== '' && entity !== '' && fact !== '';
  if (!isWhole || name.length > NAME_MAX) {
    throw new Failure('InvalidParameter', `index has names WORKSPACE:NAMESPACE:ENTITY:FACT`);
  }
  return { name, workspace, namespace: namespace.toUpperCase(), entity, fact };
}

export const isNamed = (name: string): boolean => name.includes(':');

const INDEXED = /^\$index\[(\d{1,3})\]$/;

/** `$index[0]` is the first name of the rule's index. @throws Failure InvalidParameter */
function indexed(name: unknown, index: readonly string[]): string | undefined {
  const found = typeof name === 'string' ? INDEXED.exec(name) : null;
  if (found === null) return undefined;
  const meant = index[Number(found[1])];
  if (meant === undefined) throw new Failure('InvalidParameter', `${found[0]} is not in index`);
  return meant;
}

export const kindOfName =
  (propertyKind: PropertyKind) =>
  (name: string): ValueKind | undefined => {
    const named = namedFact(name);
    if (named === undefined) return ruleValue(name)?.kind;
    if (named.namespace === 'STOCK') return ruleValue(named.fact)?.kind;
    return propertyKind(named);
  };

/** @throws Failure InvalidParameter naming what is wrong */
export function checkedConditions(
  { conditions, index }: Pick<RuleBody, 'conditions' | 'index'>,
  propertyKind: PropertyKind,
): readonly Condition[] {
  const meant = conditions.map(([left, operator, right, ...more]) => {
    const name = indexed(right, index);
    return [indexed(left, index) ?? left, operator, name === undefined ? right : { name }, ...more];
  });
  return conditionsOf(meant, kindOfName(propertyKind));
}

/** @throws Failure InvalidParameter: something that it reads is not there any more. */
export function runningRule(
  { body, event, id }: Pick<Rule, 'body' | 'event' | 'id'>,
  propertyKind: PropertyKind,
): RunningRule {
  return {
    id,
    event,
    match: body.match,
    conditions: checkedConditions(body, propertyKind),
    alsoNames: [...body.additionalKeys, ...body.index, ...body.additionalIndex],
    frequencyMs: body.output.frequencySeconds * 1_000,
    trigger: body.trigger,
  };
}

/** All names that a rule reads or tells. */
export const allNames = (rule: RunningRule): readonly string[] => [
  ...new Set([...namesOf(rule.conditions), ...rule.alsoNames]),
];

/** Messages of one alert: what its output costs, and the values that it reads or tells. */
export function alertWeight(
  names: readonly string[],
  outputWeight: number,
  weightOfNamed: (fact: NamedFact) => number,
): number {
  return names.reduce((sum, name) => {
    const named = namedFact(name);
    if (named === undefined) return sum + (ruleValue(name)?.weight ?? 0);
    if (named.namespace === 'STOCK') return sum + (ruleValue(named.fact)?.weight ?? 0);
    return sum + weightOfNamed(named);
  }, outputWeight);
}
