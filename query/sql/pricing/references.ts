// Finds each place in which a query reads a dataset, also in views and common tables, and how it is
// charged: by the rows of the answer, each of which has one of its records, or by its records if the answer
// aggregates them. Under an aggregate LIMIT and conditions on values are ignored: they narrow the answer,
// not the information in it.
import { Failure } from '../../../store/base/failure.ts';
import type { BoundDataset } from '../plan/boundTable.ts';
import {
  conjunction,
  expressionsOf,
  aggregatesRecords,
  isGrouped,
  isTransparent,
  columnsIn,
  renameColumnsIn,
  type SubSelect,
  subSelectsIn,
} from '../lower/expressionParts.ts';
import { choosesByIndex } from './rowSelection.ts';
import { isSelfContained } from './isSelfContained.ts';
import { folded } from '../lower/lowering.ts';
import {
  innerNames,
  findOnlySource,
  type Leaf,
  type Level,
  type Output,
  listOutputs,
  type LeafScope,
  type Scope,
} from './sourceColumns.ts';
import { openScope, type Reaches } from './scopes.ts';
import type { Expression, Query, SelectQuery } from '../plan/selectPlan.ts';

/** A condition that every record of a source meets; columns are named in lower case. */
export type Restriction =
  | { readonly kind: 'test'; readonly test: Expression }
  /** The columns are equal to those of some row of a query, in their order. */
  | { readonly kind: 'member'; readonly columns: readonly string[]; readonly rows: Rows };

/** A self-contained query. */
interface Rows {
  readonly level: Level;
  readonly query: Query;
}

export interface Reference {
  readonly bound: BoundDataset;
  readonly restrictions: readonly Restriction[];
}

export type Share =
  /** Each row of the answer has one record of it. */
  | { readonly kind: 'rows'; readonly reference: Reference }
  /** The answer is computed from all records that match its conditions. */
  | { readonly kind: 'records'; readonly reference: Reference }
  /** UNION ALL: each row is from one of both sides. */
  | { readonly kind: 'either'; readonly left: readonly Share[]; readonly right: readonly Share[] };

/** The reader of a query: whether it aggregates the rows, and whether it may choose among them. */
interface Reader {
  readonly folds: boolean;
  readonly nested: boolean;
}

interface Walk {
  readonly counts: (bound: BoundDataset) => boolean;
  visited: number;
}

/** Sources of a query after all views and common tables are expanded at each use. */
const SOURCES_MAX = 1_000;

/**
 * @param counts which datasets are charged by their records
 * @param restrictions conditions on its rows if another endpoint reads it; undefined for a query
 * @param folds whether the reader aggregates the rows of the query
 * @throws Failure InvalidParameter above the number of sources.
 */
export function collectShares(
  level: Level,
  counts: (bound: BoundDataset) => boolean,
  restrictions: readonly Restriction[] | undefined,
  folds: boolean,
): readonly Share[] {
  const place = { level, common: [], outer: undefined, names: new Map() };
  const walk = { counts, visited: 0 };
  const within = { folds, nested: restrictions !== undefined };
  return collectFromQuery(level.plan.query, place, restrictions ?? [], within, walk);
}

function collectFromQuery(
  query: Query,
  place: LeafScope,
  restrictions: readonly Restriction[],
  reader: Reader,
  walk: Walk,
): readonly Share[] {
  if (query.kind === 'select') return collectFromSelect(query, place, restrictions, reader, walk);
  const { all, how, left, right } = query;
  const within = { ...place, common: [...place.common, ...query.common] };
  const folds = reader.folds || isCutWithin(query, reader);
  const isEither = how === 'UNION' && all;
  const side = { folds: folds || !isEither, nested: true };
  const isCut = query.limit !== undefined || query.offset !== undefined;
  const passed = isCut || how === 'UNION BY NAME' ? [] : restrictions;
  const sides = [
    collectFromQuery(left, within, passed, side, walk),
    collectFromQuery(
      right,
      within,
      renameColumns(passed, namesOfSides(left, right, within)),
      side,
      walk,
    ),
  ] as const;
  const subSelects = expressionsOf(query).flatMap(subSelectsIn);
  const inOrder = subSelects.flatMap((one) =>
    collectFromQuery(one.query, within, [], FOLDED, walk),
  );
  return [...(folds || !isEither ? sides.flat() : joinShares(...sides)), ...inOrder];
}

const FOLDED: Reader = { folds: true, nested: true };

/**
 * Whether it excludes rows by their number: OFFSET reveals how many rows come before it, and a nested LIMIT
 * reveals rows by what is done with those that it leaves.
 */
const isCutWithin = ({ limit, offset }: Query, { nested }: Reader): boolean =>
  (offset ?? 0) > 0 || (nested && limit !== undefined);

/** Joins the shares of both sides; records that a side aggregates are counted unchanged. */
function joinShares(left: readonly Share[], right: readonly Share[]): readonly Share[] {
  const isRows = (share: Share): boolean => share.kind !== 'records';
  const [a, b] = [left.filter(isRows), right.filter(isRows)];
  const others = [...left, ...right].filter((share) => !isRows(share));
  if (a.length === 0 || b.length === 0) return [...a, ...b, ...others];
  return [{ kind: 'either', left: a, right: b }, ...others];
}

/** Maps the column names of the left side to those of the right. */
function namesOfSides(
  left: Query,
  right: Query,
  place: LeafScope,
): ReadonlyMap<string, string | undefined> {
  const of = (query: Query): readonly string[] =>
    innerNames({ kind: 'query', query, alias: '', columns: [] }, place) ?? [];
  const names = of(right);
  return renames(of(left), names);
}

/** Maps names to others by position; a repeated name maps to undefined. */
const renames = (
  from: readonly string[],
  to: readonly string[],
): ReadonlyMap<string, string | undefined> =>
  new Map(
    from.map((name, at) => [
      name,
      from.indexOf(name) === from.lastIndexOf(name) ? to[at] : undefined,
    ]),
  );

function collectFromSelect(
  query: SelectQuery,
  place: LeafScope,
  restrictions: readonly Restriction[],
  reader: Reader,
  walk: Walk,
): readonly Share[] {
  const scope = openScope(query, place);
  const passedOn = new Map<Leaf, Restriction[]>();
  if (isTransparent(query)) passOn(restrictions, query, scope, passedOn);
  const isCut = isCutWithin(query, reader) && !choosesByIndex(query, scope);
  const isFold = reader.folds || aggregatesRecords(query) || isCut;
  const ofSources = scope.leaves.flatMap((leaf) =>
    collectFromLeaf(
      leaf,
      scope,
      passedOn.get(leaf) ?? [],
      isFold || leaf.isCompared || scope.chosen.has(leaf),
      walk,
    ),
  );
  const subSelects = expressionsOf(query).flatMap(subSelectsIn);
  return [...ofSources, ...subSelects.flatMap((one) => collectFromSubSelect(one, scope, walk))];
}

/** Passes restrictions on the answer's columns to the columns of sources that they copy. */
function passOn(
  restrictions: readonly Restriction[],
  query: SelectQuery,
  scope: Scope & { readonly reaches: Reaches },
  passedOn: Map<Leaf, Restriction[]>,
): void {
  const outputs = listOutputs(query, scope) ?? [];
  for (const restriction of restrictions) {
    const columns = columnsOf(restriction);
    const from = columns.map((name) => findSource(name, outputs, query));
    const leaf = from[0]?.leaf;
    if (leaf === undefined || !from.every((one) => one?.leaf === leaf)) continue;
    // Elsewhere only a comparison that is false for a missing value would be safe.
    if (scope.reaches.get(leaf) !== 'any') continue;
    const names = new Map(columns.map((name, at) => [name, from[at]?.column]));
    passedOn.set(leaf, [...(passedOn.get(leaf) ?? []), ...renameColumns([restriction], names)]);
  }
}

const columnsOf = (restriction: Restriction): readonly string[] =>
  restriction.kind === 'member'
    ? restriction.columns
    : (columnsIn(restriction.test) ?? []).map(({ path }) => path.at(-1) ?? '');

function findSource(name: string, outputs: readonly Output[], query: SelectQuery): Output['from'] {
  const named = outputs.filter((output) => output.name === name);
  const [only] = named;
  if (only === undefined || named.length > 1) return undefined;
  return !isGrouped(query) || isKey(only, outputs, query) ? only.from : undefined;
}

/** Whether it has one value in each group: GROUP BY names it, or GROUP BY ALL includes it. */
function isKey(
  output: Output,
  outputs: readonly Output[],
  { groupAll, groups }: SelectQuery,
): boolean {
  if (groupAll) return true;
  return groups.some((group) => {
    if (group.kind === 'number') return outputs[Number(group.digits) - 1] === output;
    if (group.kind !== 'column') return false;
    return folded(group.path.at(-1) ?? '') === output.from?.column;
  });
}

/** Renames the columns of restrictions; drops a restriction on a column without a new name. */
function renameColumns(
  restrictions: readonly Restriction[],
  names: ReadonlyMap<string, string | undefined>,
): readonly Restriction[] {
  return restrictions.flatMap((restriction): readonly Restriction[] => {
    if (columnsOf(restriction).some((name) => names.get(name) === undefined)) return [];
    const named = (name: string): string => names.get(name) ?? '';
    if (restriction.kind === 'member') {
      return [{ ...restriction, columns: restriction.columns.map(named) }];
    }
    const test = renameColumnsIn(restriction.test, ({ path }) => named(path.at(-1) ?? ''));
    return [{ kind: 'test', test }];
  });
}

/** A sub-select of an expression aggregates the rows that it reads to a value or a truth. */
function collectFromSubSelect(one: SubSelect, scope: Scope, walk: Walk): readonly Share[] {
  return collectFromQuery(
    one.query,
    { ...scope, outer: scope },
    restrictMembers(one, scope),
    FOLDED,
    walk,
  );
}

/** `x IN (SELECT key …)`: records of keys other than x are irrelevant. */
function restrictMembers(one: SubSelect, scope: Scope): readonly Restriction[] {
  if (one.kind !== 'any' || one.operator !== '=') return [];
  const [name] =
    innerNames({ kind: 'query', query: one.query, alias: '', columns: [] }, scope) ?? [];
  const columns = columnsIn(one.operand);
  if (name === undefined || columns === undefined) return [];
  const column: Expression = { kind: 'column', path: [name], at: undefined };
  if (columns.length === 0) {
    const test: Expression = { kind: 'compare', operator: '=', left: column, right: one.operand };
    return [{ kind: 'test', test }];
  }
  const partner = findOnlySource(columns, scope.leaves, scope);
  if (partner === undefined) return [];
  const value = renameColumnsIn(one.operand, ({ path }) => folded(path.at(-1) ?? ''));
  const rows = buildRows(partner.leaf, partner.scope, [value]);
  return rows === undefined ? [] : [{ kind: 'member', columns: [name], rows }];
}

/** Builds a query for values of a source's rows. */
function buildRows(leaf: Leaf, scope: Scope, values: readonly Expression[]): Rows | undefined {
  const { source, tests } = leaf;
  if (source.kind === 'query' && !isSelfContained(source.query)) return undefined;
  const items = values.map((expression, at) => ({
    kind: 'value' as const,
    expression,
    alias: `v${at}`,
  }));
  const none = { order: [], limit: undefined, offset: undefined, groups: [], groupSets: [] };
  const query: Query = {
    kind: 'select',
    common: scope.common,
    distinct: false,
    distinctOn: [],
    items,
    from: source,
    where: conjunction(tests),
    groupAll: false,
    having: undefined,
    qualify: undefined,
    ...none,
  };
  return { level: scope.level, query };
}

function collectRestrictions(leaf: Leaf): readonly Restriction[] {
  const tests = leaf.tests.map((test) => ({ kind: 'test' as const, test }));
  const members = [...leaf.partners.values()].flatMap((partner): readonly Restriction[] => {
    const { pairs } = partner;
    const rows = buildRows(
      partner.leaf,
      partner.scope,
      pairs.map(({ value }) => value),
    );
    const columns = pairs.map(({ column }) => column);
    return rows === undefined ? [] : [{ kind: 'member', columns, rows }];
  });
  const sought = leaf.memberships.map(({ column, query, scope }): Restriction => {
    const common = [...scope.common, ...query.common];
    const rows = { level: scope.level, query: { ...query, common } };
    return { kind: 'member', columns: [column], rows };
  });
  return [...tests, ...members, ...sought];
}

function collectFromLeaf(
  leaf: Leaf,
  scope: Scope,
  passedOn: readonly Restriction[],
  folds: boolean,
  walk: Walk,
): readonly Share[] {
  walk.visited += 1;
  if (walk.visited > SOURCES_MAX) {
    const limit = `over ${SOURCES_MAX} tables, with those of its views and of WITH as often as named`;
    throw new Failure('InvalidParameter', `"sqlQuery": the query reads ${limit}`);
  }
  const { columns, source } = leaf;
  const reader = { folds, nested: true };
  if (source.kind === 'values') return [];
  const inner = innerNames(source, scope);
  const names = renames(columns ?? [], inner ?? []);
  const restrictions = renameColumns([...collectRestrictions(leaf), ...passedOn], names);
  if (source.kind === 'query') {
    return collectFromQuery(source.query, { ...scope, outer: scope }, restrictions, reader, walk);
  }
  if (source.kind === 'common') {
    const at = scope.common.findIndex(({ id }) => id === source.id);
    const commonTable = scope.common[at];
    if (commonTable === undefined) return [];
    const before = { ...scope, common: scope.common.slice(0, at), outer: undefined };
    const own = innerNames({ ...source, kind: 'query', query: commonTable.query }, before);
    const passed = renameColumns(restrictions, renames(inner ?? [], own ?? []));
    return collectFromQuery(commonTable.query, before, passed, reader, walk);
  }
  const table = scope.level.tables[source.index];
  if (table === undefined) return [];
  if (table.kind === 'view') {
    const within = { ...scope, level: table, common: [], outer: undefined };
    return collectFromQuery(table.plan.query, within, restrictions, reader, walk);
  }
  if (!walk.counts(table)) return [];
  return [{ kind: folds ? 'records' : 'rows', reference: { bound: table, restrictions } }];
}
