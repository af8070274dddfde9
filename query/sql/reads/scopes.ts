// Which conditions of a SELECT hold for every row of a source that takes part in its answer. What is
// not sure is left out: then a source counts as if the condition were not there.
import { joinsByIndex } from './choices.ts';
import { isClosed } from './closed.ts';
import { columnsIn, conjunctsOf, givenNames, renamed } from '../lower/expressionParts.ts';
import {
  addLeaves,
  foundOf,
  has,
  keeperOf,
  type Leaf,
  type LeafSource,
  type Merged,
  type LeafScope,
  resolve,
  type Scope,
} from './leaves.ts';
import { folded } from '../lower/lowering.ts';
import type { Expression, Join, SelectQuery, Source } from '../plan/selectPlan.ts';

/**
 * What a condition may say of a source: anything; only what a record without a value fails, where an
 * outer join may put in such a record; nothing, where a join chose among its records before.
 */
type Reach = 'any' | 'strict';
export type Reaches = ReadonlyMap<Leaf, Reach>;

interface OpenScope extends Scope {
  readonly reaches: Reaches;
  /** Sources of which a row tells by what is not there, or by what stands behind it. */
  readonly chosen: ReadonlySet<Leaf>;
}

/** The sources of a SELECT, with what its joins and its WHERE say of each. */
export function openScope(query: SelectQuery, place: LeafScope): OpenScope {
  const level = { ...place, common: [...place.common, ...query.common] };
  const leaves = new Map<LeafSource, Leaf>();
  addLeaves(query.from, false, level, leaves);
  const aliases = query.items.flatMap(givenNames).map(folded);
  const all = [...leaves.values()];
  const scope: Scope = { ...level, leaves: all, merged: new Map(), aliases: new Set(aliases) };
  const state = new Map<Leaf, Reach | 'none'>();
  const chosen = new Set<Leaf>();
  joined(query.from, leaves, scope, { state, chosen });
  const seen = all.filter(({ looked }) => !looked);
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

/** The leaves of a source, with what its joins say of them. */
function joined(
  source: Source,
  leaves: ReadonlyMap<LeafSource, Leaf>,
  scope: Scope,
  found: Joined,
): readonly Leaf[] {
  const { state } = found;
  if (source.kind === 'nothing') return [];
  if (source.kind !== 'join') {
    const leaf = leaves.get(source);
    if (leaf === undefined) return [];
    state.set(leaf, 'any');
    return [leaf];
  }
  const left = joined(source.left, leaves, scope, found);
  const right = joined(source.right, leaves, scope, found);
  const both = [...left, ...right];
  const reaches = reachesOf(restrictedBy(source, left, right), state);
  for (const condition of conjunctsOf(source.on)) {
    // The one inequality of an ASOF join is what it chooses by.
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
    for (const leaf of side) found.chosen.add(leaf);
  }
  if (how === 'LEFT' || how === 'FULL') for (const leaf of right) weaken(leaf, state);
  if (how === 'RIGHT' || how === 'FULL') for (const leaf of left) weaken(leaf, state);
  if (asOf || how === 'SEMI' || how === 'ANTI') for (const leaf of right) state.set(leaf, 'none');
  return both;
}

const weaken = (leaf: Leaf, state: Map<Leaf, Reach | 'none'>): void => {
  if (state.get(leaf) === 'any') state.set(leaf, 'strict');
};

/** Sources of whose records only those take part that meet the join's condition. */
function restrictedBy(
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
  for (const [at, given] of using.entries()) {
    const name = folded(given);
    const sides = { left: mergedOf(name, left, scope), right: mergedOf(name, right, scope) };
    if (sides.left === undefined || sides.right === undefined) continue;
    scope.merged.set(name, mergedBy(join, sides.left, sides.right));
    // The last one of an ASOF join is what it chooses by.
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

/** What a name means among the sources of one side of a join; undefined where it is not sure. */
function mergedOf(name: string, side: readonly Leaf[], scope: Scope): Merged | undefined {
  const seen = side.filter((leaf) => !leaf.looked || side.length === 1);
  const named = seen.filter(({ columns }) => columns?.includes(name) === true);
  const known = scope.merged.get(name);
  if (known !== undefined && named.every((leaf) => known.leaves.includes(leaf))) return known;
  const [leaf] = named;
  if (leaf === undefined || named.length > 1 || !has(leaf, name)) return undefined;
  return { leaves: [leaf], keeper: leaf };
}

function mergedBy({ asOf, how }: Join, left: Merged, right: Merged): Merged {
  if (asOf || how === 'SEMI' || how === 'ANTI') return left;
  const leaves = [...left.leaves, ...right.leaves];
  if (how === 'FULL') return { leaves, keeper: undefined };
  if (how === 'RIGHT') return { leaves, keeper: right.keeper };
  return { leaves, keeper: left.keeper ?? (how === 'LEFT' ? undefined : right.keeper) };
}

function addPartner(of: Leaf, leaf: Leaf, scope: Scope, column: string, value: Expression): void {
  const known = of.partners.get(leaf);
  if (known === undefined) of.partners.set(leaf, { leaf, scope, pairs: [{ column, value }] });
  else known.pairs.push({ column, value });
}

/** What one condition says of the sources that it reaches. */
function restrict(
  condition: Expression,
  among: readonly Leaf[],
  reaches: Reaches,
  scope: Scope,
): void {
  if (condition.kind === 'any') seek(condition, among, reaches, scope);
  const columns = columnsIn(condition);
  if (columns === undefined || columns.length === 0) return;
  const found = foundOf(columns, among, scope);
  if (found === undefined) return;
  const [first] = found;
  if (first?.scope === scope && found.every(({ leaves }) => isSameSet(leaves, first.leaves))) {
    // What USING made one column of is filtered as one.
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
  if (operator !== '=' || operand.kind !== 'column' || !isClosed(query)) return;
  const own = resolve(operand, among, scope);
  if (own?.scope !== scope || !own.leaves.every((leaf) => reaches.has(leaf))) return;
  for (const leaf of own.leaves) leaf.sought.push({ column: own.column, query, scope });
}

const isSameSet = (a: readonly Leaf[], b: readonly Leaf[]): boolean =>
  a.length === b.length && a.every((leaf) => b.includes(leaf));

function addTest(condition: Expression, leaf: Leaf, merged: boolean, reaches: Reaches): void {
  const reach = reaches.get(leaf);
  const isStrictOnly = merged || reach === 'strict';
  if (reach === undefined || (isStrictOnly && !isStrict(condition))) return;
  leaf.tests.push(renamed(condition, ({ path }) => folded(path.at(-1) ?? '')));
}

/** A column of a source is equal to a value of one other source, here or outside. */
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
  const found = keeperOf(columns, among, scope);
  if (own === undefined || own.scope !== scope || found === undefined) return;
  const value = renamed(other, ({ path }) => folded(path.at(-1) ?? ''));
  for (const leaf of own.leaves) {
    if (leaf === found.leaf || !reaches.has(leaf)) continue;
    addPartner(leaf, found.leaf, found.scope, own.column, value);
  }
}

const STRICT_OPERATORS: ReadonlySet<string> = new Set(['=', '<', '>', '<=', '>=', '<>']);

/** What a record without a value fails. */
function isStrict(condition: Expression): boolean {
  const isColumn = ({ kind }: Expression): boolean => kind === 'column';
  if (condition.kind === 'logic') return condition.operands.every(isStrict);
  if (condition.kind === 'between') return isColumn(condition.operand);
  if (condition.kind === 'in') return !condition.negated && isColumn(condition.operand);
  if (condition.kind !== 'compare' || !STRICT_OPERATORS.has(condition.operator)) return false;
  return isColumn(condition.left) || isColumn(condition.right);
}
