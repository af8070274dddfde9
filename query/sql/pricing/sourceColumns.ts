// Resolves names to the sources of a SELECT and their columns. An ambiguous name is unknown.
import { type BoundTable, columnNames } from '../plan/boundTable.ts';
import { type ColumnName, isSeveral } from '../lower/expressionParts.ts';
import { folded } from '../lower/lowering.ts';
import { labelOf, PLAIN } from '../print/printExpression.ts';
import type {
  CommonTable,
  Expression,
  Item,
  Query,
  SelectPlan,
  SelectQuery,
  Source,
  Star,
} from '../plan/selectPlan.ts';

/** A query with the tables of its positions: of the caller, or of a view. */
export interface Level {
  readonly plan: SelectPlan;
  readonly tables: readonly BoundTable[];
}

export type LeafSource = Exclude<Source, { readonly kind: 'nothing' | 'join' }>;

/** Rows of another source to which columns of a source are equal. */
interface Partner {
  readonly leaf: Leaf;
  readonly scope: Scope;
  /** A column of the restricted source, and the equal value of the partner. */
  readonly pairs: { readonly column: string; readonly value: Expression }[];
}

/** A source of a FROM. Column names are in lower case, as seen outside of the source. */
export interface Leaf {
  readonly source: LeafSource;
  readonly alias: string;
  /** Undefined if they are unknown. */
  readonly columns: readonly string[] | undefined;
  /** Its rows are only compared and not part of the answer: the right of a SEMI or ANTI join. */
  readonly isCompared: boolean;
  /** Conditions on its columns, without qualifiers. */
  readonly tests: Expression[];
  readonly partners: Map<Leaf, Partner>;
  /** Columns that are equal to some row of a sub-select: `key IN (SELECT …)`. */
  readonly memberships: { readonly column: string; readonly query: Query; readonly scope: Scope }[];
}

export interface Scope {
  readonly level: Level;
  /** Common tables that are in scope. */
  readonly common: readonly CommonTable[];
  readonly leaves: readonly Leaf[];
  readonly outer: Scope | undefined;
  /** Column names of each query, cached: a common table may be used many times. */
  readonly names: Map<Query, readonly string[] | undefined>;
  /** Columns that USING merged. */
  readonly merged: Map<string, Merged>;
  /** Names that the select list defines: they hide names of outer queries. */
  readonly aliases: ReadonlySet<string>;
}

/** The surroundings of a query. */
export type LeafScope = Pick<Scope, 'level' | 'common' | 'outer' | 'names'>;

export interface Merged {
  readonly leaves: readonly Leaf[];
  /** The source that has all values of the column, if there is one. */
  readonly keeper: Leaf | undefined;
}

interface ResolvedColumn extends Merged {
  readonly scope: Scope;
  readonly column: string;
}

/** Collects the sources of a FROM, without the conditions of joins. */
export function addLeaves(
  source: Source,
  looked: boolean,
  place: LeafScope,
  leaves: Map<LeafSource, Leaf>,
): void {
  if (source.kind === 'nothing') return;
  if (source.kind === 'join') {
    addLeaves(source.left, looked, place, leaves);
    const isLooked = source.how === 'SEMI' || source.how === 'ANTI';
    addLeaves(source.right, looked || isLooked, place, leaves);
    return;
  }
  const alias = folded(source.alias);
  const columns = outerNames(source, place);
  leaves.set(source, {
    source,
    alias,
    columns,
    isCompared: looked,
    tests: [],
    partners: new Map(),
    memberships: [],
  });
}

export const hasColumnOnce = ({ columns }: Leaf, name: string): boolean =>
  columns?.filter((one) => one === name).length === 1;

/** Finds the only source of several columns; undefined if there are several, or if it is ambiguous. */
export function findOnlySource(
  columns: readonly ColumnName[],
  among: readonly Leaf[],
  scope: Scope,
): { readonly leaf: Leaf; readonly scope: Scope } | undefined {
  const resolved = resolveColumns(columns, among, scope);
  const [first] = resolved ?? [];
  const leaf = first?.keeper;
  if (first === undefined || leaf === undefined) return undefined;
  return resolved?.every(({ keeper }) => keeper === leaf) === true
    ? { leaf, scope: first.scope }
    : undefined;
}

/** Resolves columns; undefined unless all are known. */
export function resolveColumns(
  columns: readonly ColumnName[],
  among: readonly Leaf[],
  scope: Scope,
): readonly ResolvedColumn[] | undefined {
  const resolved = columns.map((column) => resolve(column, among, scope));
  const complete = resolved.filter((one) => one !== undefined);
  return complete.length < resolved.length ? undefined : complete;
}

/** Resolves a column's name; undefined if it is ambiguous. */
export function resolve(
  { path }: ColumnName,
  among: readonly Leaf[],
  scope: Scope,
): ResolvedColumn | undefined {
  const column = folded(path.at(-1) ?? '');
  const outside = (): ResolvedColumn | undefined => {
    const { outer } = scope;
    if (outer === undefined) return undefined;
    return resolve({ kind: 'column', path, at: undefined }, outer.leaves, outer);
  };
  if (path.length > 1) {
    const qualifier = folded(path.at(-2) ?? '');
    const named = among.filter(({ alias }) => alias === qualifier);
    const [leaf] = named;
    if (leaf === undefined) return outside();
    const isSure = named.length === 1 && hasColumnOnce(leaf, column);
    return isSure ? { scope, leaves: [leaf], keeper: leaf, column } : undefined;
  }
  if (among.some(({ columns }) => columns === undefined)) return undefined;
  const hits = among.filter(({ columns }) => columns?.includes(column) === true);
  const merged = scope.merged.get(column);
  const visible = hits.filter(({ isCompared }) => !isCompared);
  if (merged !== undefined && visible.every((leaf) => merged.leaves.includes(leaf))) {
    return { ...merged, scope, column };
  }
  const [only] = hits;
  if (only === undefined) return scope.aliases.has(column) ? undefined : outside();
  const isSure = hits.length === 1 && hasColumnOnce(only, column);
  return isSure ? { scope, leaves: [only], keeper: only, column } : undefined;
}

/** A column of an answer, and the column of a source that it copies. */
export interface Output {
  readonly name: string;
  readonly from: { readonly leaf: Leaf; readonly column: string } | undefined;
  readonly item: Item | undefined;
}

/** Returns the columns of a SELECT in their order; undefined if they are unknown. */
export function listOutputs(query: SelectQuery, scope: Scope): readonly Output[] | undefined {
  const all = query.items.map((item): readonly Output[] | undefined => {
    if (item.kind === 'star') return expandStar(item, query.from, scope);
    if (isSeveral(item)) return undefined;
    const { alias, expression } = item;
    const name = folded(alias ?? labelOf(expression, PLAIN));
    const seen = scope.leaves.filter(({ isCompared }) => !isCompared);
    const resolved = expression.kind === 'column' ? resolve(expression, seen, scope) : undefined;
    const leaf = resolved?.scope === scope ? resolved.keeper : undefined;
    const from =
      leaf === undefined || resolved === undefined ? undefined : { leaf, column: resolved.column };
    return [{ name, from, item }];
  });
  return all.some((one) => one === undefined) ? undefined : all.flatMap((one) => one ?? []);
}

function expandStar(
  { except, pattern, relation, rename, replace }: Star,
  from: Source,
  scope: Scope,
): readonly Output[] | undefined {
  if (pattern !== undefined) return undefined;
  const left = new Set(except.map(folded));
  const replaced = new Set(replace.map(({ name }) => folded(name)));
  const newNames = new Map(rename.map(({ from: name, to }) => [folded(name), folded(to)]));
  const named = relation === undefined ? undefined : folded(relation);
  const columns =
    named === undefined
      ? starColumns(from, scope)
      : ownColumns(scope.leaves.find(({ alias }) => alias === named));
  return columns
    ?.filter(({ name }) => !left.has(name))
    .map((output) => ({
      name: newNames.get(output.name) ?? output.name,
      from: replaced.has(output.name) ? undefined : output.from,
      item: output.item,
    }));
}

function ownColumns(leaf: Leaf | undefined): readonly Output[] | undefined {
  return leaf?.columns?.map((name) => ({ name, from: { leaf, column: name }, item: undefined }));
}

/** Columns merged by USING appear once, at the position of the left one. */
function starColumns(from: Source, scope: Scope): readonly Output[] | undefined {
  if (from.kind === 'nothing') return [];
  if (from.kind !== 'join') return ownColumns(scope.leaves.find(({ source }) => source === from));
  const left = starColumns(from.left, scope);
  if (from.how === 'SEMI' || from.how === 'ANTI') return left;
  const right = starColumns(from.right, scope);
  if (left === undefined || right === undefined) return undefined;
  const once = new Set(from.using.map(folded));
  return [...left, ...right.filter(({ name }) => !once.has(name))];
}

/** Returns the names of a query's columns, in lower case. */
function namesOf(query: Query, place: LeafScope): readonly string[] | undefined {
  if (!place.names.has(query)) place.names.set(query, freshNames(query, place));
  return place.names.get(query);
}

function freshNames(query: Query, place: LeafScope): readonly string[] | undefined {
  const within = { ...place, common: [...place.common, ...query.common] };
  if (query.kind === 'set')
    return query.how === 'UNION BY NAME' ? undefined : namesOf(query.left, within);
  const leaves = new Map<LeafSource, Leaf>();
  addLeaves(query.from, false, within, leaves);
  const scope: Scope = {
    ...within,
    leaves: [...leaves.values()],
    merged: new Map(),
    aliases: new Set(),
  };
  return listOutputs(query, scope)?.map(({ name }) => name);
}

/** Returns the names of a source's columns inside its own query. */
export function innerNames(source: LeafSource, place: LeafScope): readonly string[] | undefined {
  if (source.kind === 'values') return source.rows[0]?.map((_, at) => `col${at}`);
  if (source.kind === 'query') return namesOf(source.query, place);
  if (source.kind === 'common') {
    const at = place.common.findIndex(({ id }) => id === source.id);
    const commonTable = place.common[at];
    if (commonTable === undefined) return undefined;
    const before = { ...place, common: place.common.slice(0, at), outer: undefined };
    return withNames(namesOf(commonTable.query, before), commonTable.columns);
  }
  const table = place.level.tables[source.index];
  if (table === undefined) return undefined;
  if (table.kind === 'dataset') return columnNames(table).map(folded);
  return namesOf(table.plan.query, { ...place, level: table, common: [], outer: undefined });
}

/** Returns the names as seen outside of the source: `AS t(a, b)` renames the first ones. */
const outerNames = (source: LeafSource, place: LeafScope): readonly string[] | undefined =>
  withNames(innerNames(source, place), source.columns);

const withNames = (
  names: readonly string[] | undefined,
  aliases: readonly string[],
): readonly string[] | undefined => names?.map((name, at) => folded(aliases[at] ?? name));
