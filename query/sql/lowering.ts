// What lowering carries along: the user's text for places, the names in scope, and what it found.
import type { Hint } from './hints.ts';
import { placeOf, type Spelled } from './spelling.ts';
import type { Expression, Place, Query, SelectPlan, Source, TableName } from './selectPlan.ts';
import type { Fields } from './tree.ts';
import { refuseAt } from './tokens.ts';

type NamedPlace = SelectPlan['folds'][number];

export interface Lowering {
  readonly tables: TableName[];
  readonly folds: NamedPlace[];
  readonly hints: Hint[];
  /** Columns that are named without their table. */
  readonly names: NamedPlace[];
  /** Names of sources, and names that the query itself gives to columns, in lower case. */
  readonly sources: Set<string>;
  readonly given: Set<string>;
  /** The user's place of a node. */
  at(fields: Fields): Place;
  /** @throws Failure InvalidParameter. */
  refuse(at: Place, rule: string): never;
  moment(what: 'date' | 'timestamp'): Expression;
  expression(node: unknown): Expression;
  /** A sub-select, with the names that are in scope. */
  query(node: unknown): Query;
  /** An expression of GROUP BY or ORDER BY, where a text is surely meant as a name. */
  named(expression: Expression, at: Place): Expression;
  /** Runs with common tables of these names in scope as well. */
  within<T>(names: readonly string[], work: () => T): T;
  /** The common table of that name, or else one of the caller's. */
  table(name: TableName, alias: string, columns: readonly string[]): Source;
  momentary(): boolean;
}

/** Sub-selects in each other; each is a call on the stack here and in DuckDB. */
const QUERIES_DEPTH_MAX = 40;
/** Tables of one query: each is opened. */
const TABLES_MAX = 100;

export function makeLowering(
  spelled: Spelled,
  lowerQuery: (node: unknown, to: Lowering) => Query,
  lowerExpression: (node: unknown, to: Lowering) => Expression,
): Lowering {
  const tables: TableName[] = [];
  const folds: NamedPlace[] = [];
  const hints: Hint[] = [];
  const names: NamedPlace[] = [];
  const sources = new Set<string>();
  const given = new Set<string>();
  let depth = 0;
  let isMomentary = false;
  const refuse = (at: Place, rule: string): never => refuseAt(spelled.source, at, rule);
  const to: Lowering = {
    tables,
    folds,
    hints,
    names,
    sources,
    given,
    at: (fields) => {
      const place = fields['query_location'];
      return typeof place === 'number' ? placeOf(spelled, place) : undefined;
    },
    refuse,
    moment: (what) => {
      isMomentary = true;
      return { kind: 'moment', what };
    },
    expression: (node) => lowerExpression(node, to),
    query: (node) => {
      depth += 1;
      if (depth > QUERIES_DEPTH_MAX) {
        refuse(undefined, `at most ${QUERIES_DEPTH_MAX} sub-selects in each other`);
      }
      const query = lowerQuery(node, to);
      depth -= 1;
      return query;
    },
    named: (expression, at) => {
      if (expression.kind !== 'text') return expression;
      return refuse(at, `"${expression.value}" is a text: put a name in back-ticks`);
    },
    ...scopeOf(tables, refuse),
    momentary: () => isMomentary,
  };
  return to;
}

/** Names of common tables stand before those of datasets, the innermost first. */
function scopeOf(
  tables: TableName[],
  refuse: Lowering['refuse'],
): Pick<Lowering, 'within' | 'table'> {
  let scope: readonly string[] = [];
  return {
    within: (names, work) => {
      const outer = scope;
      scope = [...outer, ...names.map((name) => name.toLowerCase())];
      const result = work();
      scope = outer;
      return result;
    },
    table: (name, alias, columns) => {
      const isCommon = name.workspace === undefined && scope.includes(name.name.toLowerCase());
      if (isCommon) return { kind: 'common', name: name.name, alias, columns };
      if (tables.push(name) > TABLES_MAX) {
        refuse(name.at, `a query names at most ${TABLES_MAX} tables`);
      }
      return { kind: 'table', index: tables.length - 1, alias, columns };
    },
  };
}
