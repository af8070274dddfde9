// Finds the conditions of a SELECT that are true for every row of a source in its answer. Ignores uncertain
// conditions: then a source counts as if the condition were missing.
import { joinsByIndex } from './rowSelection.ts';
import { isSelfContained } from './isSelfContained.ts';
import { columnsIn, conjunctsOf, definedNames, renameColumnsIn } from '../lower/expressionParts.ts';
import {
  addLeaves,
  resolveColumns,
  hasColumnOnce,
  findOnlySource,
  type Leaf,
  type LeafSource,
  type Merged,
  type LeafScope,
  resolve,
  type Scope,
} from './sourceColumns.ts';
import { folded } from '../lower/lowering.ts';
import type { Expression, Join, SelectQuery, Source } from '../plan/selectPlan.ts';

/**
 * Which conditions may restrict a source: any; only those that are false for missing values, if an outer
 * join may add a row without values; none, if a join chose among its records before.
 */
type Reach = 'any' | 'strict';
export type Reaches = ReadonlyMap<Leaf, Reach>;

interface OpenScope extends Scope {
  readonly reaches: Reaches;
  /** Sources about which a row reveals missing records, or records after it. */
  readonly chosen: ReadonlySet<Leaf>;
}

/** Builds the scope of a SELECT: its sources, with the conditions of its joins and its WHERE. */
export function openScope(query: SelectQuery, place: LeafScope): OpenScope {
  const level = { ...place, common: [...place.common, ...query.common] };
  const leaves = new Map<LeafSource, Leaf>();
  addLeaves(query.from, false, level, leaves);
  const aliases = query.items.flatMap(definedNames).map(folded);
  const all = [...leaves.values()];
  const scope: Scope = { ...level, leaves: all, merged: new Map(), aliases: new Set(aliases) };
  const state = new Map<Leaf, Reach | 'none'>();
  const chosen = new Set<Leaf>();
  applyJoins(query.from, leaves, scope, { state, chosen });
  const seen = all.filter(({ isCompared }) => !isCompared);
  const reaches = reachesOf(seen, state);
  for (const condition of conjunctsOf(query.where)) restrict(condition, seen, reaches, scope);
  return { ...scope, reaches, chosen };
}

const reachesOf = (leaves: readonly Leaf[], state: ReadonlyMap<Leaf, Reach | 'none'>): Reaches =>
  new Map(
    leaves.flatMap((leaf) => {
      const reach = state.get(leaf) ?? 'none';
      return reach === 'none' ? [] : [[leaf, reach] as const];
    }),
  );

interface Joined {
  readonly state: Map<Leaf, Reach | 'none'>;
  readonly chosen: Set<Leaf>;
}

/** Returns the leaves of a source and applies the conditions of its joins to them. */
function applyJoins(
  source: Source,
  leaves: ReadonlyMap<LeafSource, Leaf>,
  scope: Scope,
  outcome: Joined,
): readonly Leaf[] {
  const { state } = outcome;
  if (source.kind === 'nothing') return [];
  if (source.kind !== 'join') {
    const leaf = leaves.get(source);
    if (leaf === undefined) return [];
    state.set(leaf, 'any');
    return [leaf];
  }
  const left = applyJoins(source.left, leaves, scope, outcome);
  const right = applyJoins(source.right, leaves, scope, outcome);
  const both = [...left, ...right];
  const reaches = reachesOf(restrictedLeaves(source, left, right), state);
  for (const condition of conjunctsOf(source.on)) {
    // An ASOF join chooses by its inequality, which is no restriction.
    const isEqual = condition.kind === 'compare' && condition.operator === '=';
    if (!source.asOf || isEqual) restrict(condition, both, reaches, scope);
  }
  joinUsing(source, left, right, reaches, scope);
  const { asOf, how } = source;
  const optional = {
    left: how === 'RIGHT' || how === 'FULL' ? left : [],
    right: asOf || how === 'LEFT' || how === 'FULL' ? right : [],
  };
  for (const side of [optional.left, optional.right]) {
    if (joinsByIndex(source, side, both, scope)) continue;
    for (const leaf of side) outcome.chosen.add(leaf);
  }
  if (how === 'LEFT' || how === 'FULL') for (const leaf of right) weaken(leaf, state);
  if (how === 'RIGHT' || how === 'FULL') for (const leaf of left) weaken(leaf, state);
  if (asOf || how === 'SEMI' || how === 'ANTI') for (const leaf of right) state.set(leaf, 'none');
  return both;
}

const weaken = (leaf: Leaf, state: Map<Leaf, Reach | 'none'>): void => {
  if (state.get(leaf) === 'any') state.set(leaf, 'strict');
};

/** Returns the sources of which only records that meet the join's condition are in the answer. */
function restrictedLeaves(
  { asOf, how }: Join,
  left: readonly Leaf[],
  right: readonly Leaf[],
): readonly Leaf[] {
  if (how === 'LEFT' || how === 'ANTI') return right;
  if (how === 'RIGHT') return asOf ? [] : left;
  return how === 'FULL' ? [] : [...left, ...right];
}

function joinUsing(
  join: Join,
  left: readonly Leaf[],
  right: readonly Leaf[],
  reaches: Reaches,
  scope: Scope,
): void {
  const { asOf, using } = join;
  if ([...left, ...right].some(({ columns }) => columns === undefined)) return;
  for (const [at, usingName] of using.entries()) {
    const name = folded(usingName);
    const sides = { left: findMerged(name, left, scope), right: findMerged(name, right, scope) };
    if (sides.left === undefined || sides.right === undefined) continue;
    scope.merged.set(name, mergeSides(join, sides.left, sides.right));
    // An ASOF join chooses by the last column.
    if (asOf && at === using.length - 1) continue;
    const value: Expression = { kind: 'column', path: [name], at: undefined };
    for (const [own, other] of [
      [sides.left, sides.right],
      [sides.right, sides.left],
    ] as const) {
      for (const leaf of own.leaves) {
        if (other.keeper === undefined || !reaches.has(leaf)) continue;
        addPartner(leaf, other.keeper, scope, name, value);
      }
    }
  }
}

/** Resolves a name among the sources of one side of a join; undefined if it is ambiguous. */
function findMerged(name: string, side: readonly Leaf[], scope: Scope): Merged | undefined {
  const seen = side.filter((leaf) => !leaf.isCompared || side.length === 1);
  const named = seen.filter(({ columns }) => columns?.includes(name) === true);
  const existing = scope.merged.get(name);
  if (existing !== undefined && named.every((leaf) => existing.leaves.includes(leaf)))
    return existing;
  const [leaf] = named;
  if (leaf === undefined || named.length > 1 || !hasColumnOnce(leaf, name)) return undefined;
  return { leaves: [leaf], keeper: leaf };
}

function mergeSides({ asOf, how }: Join, left: Merged, right: Merged): Merged {
  if (asOf || how === 'SEMI' || how === 'ANTI') return left;
  const leaves = [...left.leaves, ...right.leaves];
  if (how === 'FULL') return { leaves, keeper: undefined };
  if (how === 'RIGHT') return { leaves, keeper: right.keeper };
  return { leaves, keeper: left.keeper ?? (how === 'LEFT' ? undefined : right.keeper) };
}

function addPartner(of: Leaf, leaf: Leaf, scope: Scope, column: string, value: Expression): void {
  const existing = of.partners.get(leaf);
  if (existing === undefined) of.partners.set(leaf, { leaf, scope, pairs: [{ column, value }] });
  else existing.pairs.push({ column, value });
}

/** Applies one condition to the sources that it reaches. */
function restrict(
  condition: Expression,
  among: readonly Leaf[],
  reaches: Reaches,
  scope: Scope,
): void {
  if (condition.kind === 'any') seek(condition, among, reaches, scope);
  const columns = columnsIn(condition);
  if (columns === undefined || columns.length === 0) return;
  const resolved = resolveColumns(columns, among, scope);
  if (resolved === undefined) return;
  const [first] = resolved;
  if (first?.scope === scope && resolved.every(({ leaves }) => isSameSet(leaves, first.leaves))) {
    // Columns merged by USING are filtered together.
    if (!first.leaves.every((leaf) => reaches.has(leaf))) return;
    for (const leaf of first.leaves) addTest(condition, leaf, first.leaves.length > 1, reaches);
    return;
  }
  if (condition.kind !== 'compare' || condition.operator !== '=') return;
  const { left, right } = condition;
  equate(left, right, among, reaches, scope);
  equate(right, left, among, reaches, scope);
}

function seek(
  { operand, operator, query }: Extract<Expression, { kind: 'any' }>,
  among: readonly Leaf[],
  reaches: Reaches,
  scope: Scope,
): void {
  if (operator !== '=' || operand.kind !== 'column' || !isSelfContained(query)) return;
  const own = resolve(operand, among, scope);
  if (own?.scope !== scope || !own.leaves.every((leaf) => reaches.has(leaf))) return;
  for (const leaf of own.leaves) leaf.memberships.push({ column: own.column, query, scope });
}

const isSameSet = (a: readonly Leaf[], b: readonly Leaf[]): boolean =>
  a.length === b.length && a.every((leaf) => b.includes(leaf));

function addTest(condition: Expression, leaf: Leaf, merged: boolean, reaches: Reaches): void {
  const reach = reaches.get(leaf);
  const isStrictOnly = merged || reach === 'strict';
  if (reach === undefined || (isStrictOnly && !isStrict(condition))) return;
  leaf.tests.push(renameColumnsIn(condition, ({ path }) => folded(path.at(-1) ?? '')));
}

/** Records that a column of a source is equal to a value of one other source, also of an outer query. */
function equate(
  side: Expression,
  other: Expression,
  among: readonly Leaf[],
  reaches: Reaches,
  scope: Scope,
): void {
  if (side.kind !== 'column') return;
  const own = resolve(side, among, scope);
  const columns = columnsIn(other) ?? [];
  const partner = findOnlySource(columns, among, scope);
  if (own === undefined || own.scope !== scope || partner === undefined) return;
  const value = renameColumnsIn(other, ({ path }) => folded(path.at(-1) ?? ''));
  for (const leaf of own.leaves) {
    if (leaf === partner.leaf || !reaches.has(leaf)) continue;
    addPartner(leaf, partner.leaf, partner.scope, own.column, value);
  }
}

const STRICT_OPERATORS: ReadonlySet<string> = new Set(['=', '<', '>', '<=', '>=', '<>']);

/** Whether a condition is false for a record with missing values. */
function isStrict(condition: Expression): boolean {
  const isColumn = ({ kind }: Expression): boolean => kind === 'column';
  if (condition.kind === 'logic') return condition.operands.every(isStrict);
  if (condition.kind === 'between') return isColumn(condition.operand);
  if (condition.kind === 'in') return !condition.negated && isColumn(condition.operand);
  if (condition.kind !== 'compare' || !STRICT_OPERATORS.has(condition.operator)) return false;
  return isColumn(condition.left) || isColumn(condition.right);
}
