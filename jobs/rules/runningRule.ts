// Prepares a rule for the engine: resolves its names, and checks its conditions against the kinds of the
// values.
import { ruleValue } from '../../market/rules/ruleValues.ts';
import {
  type Condition,
  parseConditions as parseResolved,
  conditionNames,
} from '../../query/rules/conditions.ts';
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

/** Kind of a property of a dataset; undefined where its caller can't read one of that name. */
export type PropertyKind = (fact: NamedFact) => ValueKind | undefined;

const NAME_MAX = 500;

/**
 * Parses the name of a value; undefined for one of the rule's own symbol. @throws Failure InvalidParameter
 * for an incomplete name.
 */
export function parseNamedFact(name: string): NamedFact | undefined {
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

/** Resolves `$index[0]` to the first name of the rule's index. @throws Failure InvalidParameter */
function resolveIndexed(name: unknown, index: readonly string[]): string | undefined {
  const match = typeof name === 'string' ? INDEXED.exec(name) : null;
  if (match === null) return undefined;
  const indexName = index[Number(match[1])];
  if (indexName === undefined) throw new Failure('InvalidParameter', `${match[0]} is not in index`);
  return indexName;
}

export const kindOfName =
  (propertyKind: PropertyKind) =>
  (name: string): ValueKind | undefined => {
    const named = parseNamedFact(name);
    if (named === undefined) return ruleValue(name)?.kind;
    if (named.namespace === 'STOCK') return ruleValue(named.fact)?.kind;
    return propertyKind(named);
  };

/** @throws Failure InvalidParameter naming what is wrong */
export function parseConditions(
  { conditions, index }: Pick<RuleBody, 'conditions' | 'index'>,
  propertyKind: PropertyKind,
): readonly Condition[] {
  const resolved = conditions.map(([left, operator, right, ...more]) => {
    const name = resolveIndexed(right, index);
    return [
      resolveIndexed(left, index) ?? left,
      operator,
      name === undefined ? right : { name },
      ...more,
    ];
  });
  return parseResolved(resolved, kindOfName(propertyKind));
}

/** @throws Failure InvalidParameter: a value that it reads does not exist any more. */
export function toRunningRule(
  { body, event, id }: Pick<Rule, 'body' | 'event' | 'id'>,
  propertyKind: PropertyKind,
): RunningRule {
  return {
    id,
    event,
    match: body.match,
    conditions: parseConditions(body, propertyKind),
    alsoNames: [...body.additionalKeys, ...body.index, ...body.additionalIndex],
    frequencyMs: body.output.frequencySeconds * 1_000,
    trigger: body.trigger,
  };
}

/** All names that a rule reads or includes in its alerts. */
export const allNames = (rule: RunningRule): readonly string[] => [
  ...new Set([...conditionNames(rule.conditions), ...rule.alsoNames]),
];

/** Messages of one alert: those of its output, and of the values that it reads or includes. */
export function alertWeight(
  names: readonly string[],
  outputWeight: number,
  weightOfNamed: (fact: NamedFact) => number,
): number {
  return names.reduce((sum, name) => {
    const named = parseNamedFact(name);
    if (named === undefined) return sum + (ruleValue(name)?.weight ?? 0);
    if (named.namespace === 'STOCK') return sum + (ruleValue(named.fact)?.weight ?? 0);
    return sum + weightOfNamed(named);
  }, outputWeight);
}
