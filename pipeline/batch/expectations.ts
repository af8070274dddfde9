// Compiles the expectations of a dataset to SQL over a batch: every name is quoted, every value is a literal
// printed here.
import type { Column } from '../../store/lake/versions/columns.ts';
import type { Action, Comparison, Expectation, Rule } from '../../store/lake/datasets/contracts.ts';
import type { ColumnMapping } from '../../store/lake/datasets/datasets.ts';
import type { Row } from '../../store/duckdb/protocol.ts';
import { identifier, literal } from '../../store/duckdb/sqlText.ts';

/** The number of records that violated an expectation. */
export interface Breach {
  readonly rule: string;
  readonly records: number;
  /** Of the first of them, if known. */
  readonly line: number | undefined;
}

export interface Check {
  readonly action: Action;
  /** The expectation in words. */
  readonly rule: string;
  /** SQL condition that is true for a record in violation; undefined: `late` finds those. */
  readonly breach: string | undefined;
}

export interface Checks {
  readonly list: readonly Check[];
  /** SELECT of those `rows` that are older than the stored records of their key. */
  readonly late: (rows: string) => string;
}

/** Checks of a dataset without expectations. */
export const NO_CHECKS: Checks = { list: [], late: (rows) => rows };

/** The parts of a dataset that its expectations are about. */
interface Expecting {
  readonly expectations: readonly Expectation[];
  readonly mapping: ColumnMapping;
}

/** @param stored a sub-select of the stored records' index; undefined if there are none */
export function compileChecks(
  { expectations, mapping }: Expecting,
  columns: readonly Column[],
  stored: string | undefined,
): Checks {
  const types = new Map(columns.map((column) => [column.name, column]));
  const list = expectations
    .filter((expectation) => stored !== undefined || !('monotone' in expectation))
    .map((expectation) => ({
      action: expectation.action,
      rule: ruleText(expectation),
      breach: breachCondition(expectation, types),
    }));
  return { list, late: (rows) => lateRows(rows, stored ?? '', mapping) };
}

/** Whether an expectation depends on stored records. */
export const dependsOnStored = ({ expectations }: Expecting): boolean =>
  expectations.some((expectation) => 'monotone' in expectation);

/** Properties whose kind a rule fixes: a number must not become a text under a comparison. */
export const comparedProperties = (expectations: readonly Expectation[]): ReadonlySet<string> =>
  new Set(
    expectations.flatMap((rule) => {
      if ('range' in rule) return [rule.range.property];
      if ('oneOf' in rule) return [rule.oneOf.property];
      return 'compare' in rule ? rule.compare.filter((_, at) => at % 2 === 0) : [];
    }),
  );

/** Statements over a batch's file that count what `breachesOf` reads. */
export function breachStatements({ late, list }: Checks, path: string): readonly string[] {
  if (list.length === 0) return [];
  const rows = `read_parquet(${literal(path)})`;
  const counts = list.map(({ breach }, at) =>
    breach === undefined ? `0 AS b${at}` : `count(*) FILTER (WHERE ${breach}) AS b${at}`,
  );
  const counting = `SELECT ${counts.join(', ')} FROM ${rows}`;
  const behind = list.some(({ breach }) => breach === undefined);
  return behind ? [counting, `SELECT count(*) AS late FROM (${late(rows)})`] : [counting];
}

/** The expectations that at least one record violated. */
export function readBreaches(
  { list }: Checks,
  rows: readonly (readonly Row[])[],
): readonly (Breach & Pick<Check, 'action'>)[] {
  return list.flatMap(({ action, breach, rule }, at) => {
    const count = breach === undefined ? rows[1]?.[0]?.['late'] : rows[0]?.[0]?.[`b${at}`];
    const records = Number(count ?? 0);
    return records === 0 ? [] : [{ action, rule, records, line: undefined }];
  });
}

/**
 * Selects late records: new ones older than the newest record of their key. A record that is stored
 * already is a duplicate, not late.
 */
function lateRows(rows: string, stored: string, { key, subkey, date }: ColumnMapping): string {
  const [by, day] = [identifier(key ?? ''), identifier(date ?? '')];
  const newest =
    key === undefined
      ? `CROSS JOIN (SELECT max(${day}) AS _system_newest FROM ${stored}) AS w`
      : `JOIN (SELECT ${by} AS _system_by, max(${day}) AS _system_newest FROM ${stored} GROUP BY ALL)
          AS w ON w._system_by = n.${by}`;
  const same = [key, subkey, date]
    .filter((name) => name !== undefined)
    .map((name) => `s.${identifier(name)} = n.${identifier(name)}`);
  return `SELECT n.* FROM ${rows} AS n ${newest} WHERE n.${day} < w._system_newest
    AND NOT EXISTS (FROM ${stored} AS s WHERE ${same.join(' AND ')})`;
}

function breachCondition(rule: Rule, columns: ReadonlyMap<string, Column>): string | undefined {
  if ('monotone' in rule) return undefined;
  if ('notNull' in rule) {
    return `(${rule.notNull.map((name) => `${identifier(name)} IS NULL`).join(' OR ')})`;
  }
  return `coalesce(${violationTest(rule, columns)}, false)`;
}

type LateRule = Exclude<
  Rule,
  { readonly monotone: true } | { readonly notNull: readonly string[] }
>;

/** SQL test of a violated rule; null where a value is null. */
function violationTest(rule: LateRule, columns: ReadonlyMap<string, Column>): string {
  if ('range' in rule) {
    const { property, min, max } = rule.range;
    const name = identifier(property);
    const type = columns.get(property)?.type;
    const value = (bound: number | string): string =>
      typeof bound === 'number' ? String(bound) : boundText(bound, type);
    const below = min === undefined ? [] : [`${name} < ${value(min)}`];
    const above = max === undefined ? [] : [`${name} > ${value(max)}`];
    return `(${[...below, ...above].join(' OR ')})`;
  }
  if ('pattern' in rule) {
    const { matches, property } = rule.pattern;
    return `NOT regexp_full_match(${identifier(property)}, ${literal(matches)})`;
  }
  if ('oneOf' in rule) {
    const values = rule.oneOf.values.map((value) =>
      typeof value === 'number' ? String(value) : literal(value),
    );
    return `${identifier(rule.oneOf.property)} NOT IN (${values.join(', ')})`;
  }
  const pairs = parseComparisons(rule.compare).map(
    ({ left, operator, right }) => `${identifier(left)} ${OPPOSITE[operator]} ${identifier(right)}`,
  );
  return `(${pairs.join(' OR ')})`;
}

/** A bound outside of what 64 bits of nanoseconds represent does not restrict anything. */
function boundText(bound: string, type: Column['type'] | undefined): string {
  if (type === 'timestamp_ns') return `TRY_CAST(${literal(bound)} AS TIMESTAMP_NS)`;
  return `CAST(${literal(bound)} AS ${type === 'date' ? 'DATE' : 'TIMESTAMP'})`;
}

const OPPOSITE: Readonly<Record<Comparison, string>> = {
  '<': '>=',
  '<=': '>',
  '=': '<>',
  '!=': '=',
  '>=': '<',
  '>': '<=',
};

/** Each comparison of a chain, with the properties on its sides. */
function parseComparisons(chain: readonly string[]): readonly {
  readonly left: string;
  readonly operator: Comparison;
  readonly right: string;
}[] {
  return chain.flatMap((operator, at) =>
    at % 2 === 0
      ? []
      : [
          {
            left: chain[at - 1] ?? '',
            operator: operator as Comparison,
            right: chain[at + 1] ?? '',
          },
        ],
  );
}

/** Maximum characters of a rule in words. */
const RULE_TEXT_MAX = 300;

/** The rule in words, preceded by its name if it has one. */
function ruleText(expectation: Expectation): string {
  const { name } = expectation;
  const words = describeRule(expectation);
  const text = name === undefined ? words : `${name} (${words})`;
  return text.length > RULE_TEXT_MAX ? `${text.slice(0, RULE_TEXT_MAX)}…` : text;
}

function describeRule(rule: Rule): string {
  if ('monotone' in rule) return 'not older than the newest record of its key';
  if ('notNull' in rule) return `${rule.notNull.join(', ')} not null`;
  if ('range' in rule) {
    const { property, min, max } = rule.range;
    const least = min === undefined ? [] : [`at least ${min}`];
    const most = max === undefined ? [] : [`at most ${max}`];
    return `${property} ${[...least, ...most].join(' and ')}`;
  }
  if ('pattern' in rule) return `${rule.pattern.property} like ${rule.pattern.matches}`;
  if ('oneOf' in rule) return `${rule.oneOf.property} one of ${rule.oneOf.values.join(', ')}`;
  return rule.compare.join(' ');
}
