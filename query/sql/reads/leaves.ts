// The sources of a SELECT and their columns: what a name stands for. What is not sure is not known.
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

/** A query with the tables that its places mean: of the caller, or of a view. */
export interface Level {
  readonly plan: SelectPlan;
  readonly tables: readonly BoundTable[];
}

export type LeafSource = Exclude<Source, { readonly kind: 'nothing' | 'join' }>;

/** Rows beside which a record stands: `columns` of a source are equal to those of a query. */
interface Partner {
  readonly leaf: Leaf;
  readonly scope: Scope;
  /** Of the source that is restricted, and what it is equal to in the partner. */
  readonly pairs: { readonly column: string; readonly value: Expression }[];
}

/** A source of a FROM. Names of columns are in lower case, as the source is seen from outside. */
export interface Leaf {
  readonly source: LeafSource;
  readonly alias: string;
  /** Undefined where they are not known. */
  readonly columns: readonly string[] | undefined;
  /** Its rows are looked at and not part of the answer: the right of a SEMI or ANTI join. */
  readonly looked: boolean;
  /** Conditions on its columns, each named by itself. */
  readonly tests: Expression[];
  readonly partners: Map<Leaf, Partner>;
  /** Columns that are equal to some row of a sub-select: `key IN (SELECT …)`. */
  readonly sought: { readonly column: string; readonly query: Query; readonly scope: Scope }[];
}

export interface Scope {
  readonly level: Level;
  /** Common tables that are in scope. */
  readonly common: readonly CommonTable[];
  readonly leaves: readonly Leaf[];
  readonly outer: Scope | undefined;
  /** Names of the columns of each query that was looked at: a common table is named many times. */
  readonly names: Map<Query, readonly string[] | undefined>;
  /** What USING made one column of several. */
  readonly merged: Map<string, Merged>;
  /** Names that the select list gives: they hide what stands outside. */
  readonly aliases: ReadonlySet<string>;
}

/** Where a query stands. */
export type LeafScope = Pick<Scope, 'level' | 'common' | 'outer' | 'names'>;

export interface Merged {
  readonly leaves: readonly Leaf[];
  /** The source that has every value of it, if one has. */
  readonly keeper: Leaf | undefined;
}

interface ResolvedColumn extends Merged {
  readonly scope: Scope;
  readonly column: string;
}

/** The sources of a FROM by themselves. */
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
    looked,
    tests: [],
    partners: new Map(),
    sought: [],
  });
}

export const has = ({ columns }: Leaf, name: string): boolean =>
  columns?.filter((one) => one === name).length === 1;

/** The one source that columns are of; undefined where there are several, or it is not sure. */
export function keeperOf(
  columns: readonly ColumnName[],
  among: readonly Leaf[],
  scope: Scope,
): { readonly leaf: Leaf; readonly scope: Scope } | undefined {
  const found = foundOf(columns, among, scope);
  const [first] = found ?? [];
  const leaf = first?.keeper;
  if (first === undefined || leaf === undefined) return undefined;
  return found?.every(({ keeper }) => keeper === leaf) === true
    ? { leaf, scope: first.scope }
    : undefined;
}

/** Undefined unless all are known. */
export function foundOf(
  columns: readonly ColumnName[],
  among: readonly Leaf[],
  scope: Scope,
): readonly ResolvedColumn[] | undefined {
  const found = columns.map((column) => resolve(column, among, scope));
  const known = found.filter((one) => one !== undefined);
  return known.length < found.length ? undefined : known;
}

/** What a column's name stands for; undefined where it is not sure. */
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
    const isSure = named.length === 1 && has(leaf, column);
    return isSure ? { scope, leaves: [leaf], keeper: leaf, column } : undefined;
  }
  if (among.some(({ columns }) => columns === undefined)) return undefined;
  const hits = among.filter(({ columns }) => columns?.includes(column) === true);
  const merged = scope.merged.get(column);
  const visible = hits.filter(({ looked }) => !looked);
  if (merged !== undefined && visible.every((leaf) => merged.leaves.includes(leaf))) {
    return { ...merged, scope, column };
  }
  const [only] = hits;
  if (only === undefined) return scope.aliases.has(column) ? undefined : outside();
  const isSure = hits.length === 1 && has(only, column);
  return isSure ? { scope, leaves: [only], keeper: only, column } : undefined;
}

/** A column of an answer, and the column of a source that it is as it stands. */
export interface Output {
  readonly name: string;
  readonly from: { readonly leaf: Leaf; readonly column: string } | undefined;
  readonly item: Item | undefined;
}

/** The columns of a SELECT in their order; undefined where they are not known. */
export function outputsOf(query: SelectQuery, scope: Scope): readonly Output[] | undefined {
  const all = query.items.map((item): readonly Output[] | undefined => {
    if (item.kind === 'star') return starOf(item, query.from, scope);
    if (isSeveral(item)) return undefined;
    const { alias, expression } = item;
    const name = folded(alias ?? labelOf(expression, PLAIN));
    const seen = scope.leaves.filter(({ looked }) => !looked);
    const found = expression.kind === 'column' ? resolve(expression, seen, scope) : undefined;
    const leaf = found?.scope === scope ? found.keeper : undefined;
    const from =
      leaf === undefined || found === undefined ? undefined : { leaf, column: found.column };
    return [{ name, from, item }];
  });
  return all.some((one) => one === undefined) ? undefined : all.flatMap((one) => one ?? []);
}

function starOf(
  { except, pattern, relation, rename, replace }: Star,
  from: Source,
  scope: Scope,
): readonly Output[] | undefined {
  if (pattern !== undefined) return undefined;
  const left = new Set(except.map(folded));
  const replaced = new Set(replace.map(({ name }) => folded(name)));
  const called = new Map(rename.map(({ from: name, to }) => [folded(name), folded(to)]));
  const named = relation === undefined ? undefined : folded(relation);
  const columns =
    named === undefined
      ? starColumns(from, scope)
      : ownColumns(scope.leaves.find(({ alias }) => alias === named));
  return columns
    ?.filter(({ name }) => !left.has(name))
    .map((output) => ({
      name: called.get(output.name) ?? output.name,
      from: replaced.has(output.name) ? undefined : output.from,
      item: output.item,
    }));
}

function ownColumns(leaf: Leaf | undefined): readonly Output[] | undefined {
  return leaf?.columns?.map((name) => ({ name, from: { leaf, column: name }, item: undefined }));
}

/** Columns that USING made one stand once, where the left one stood. */
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

/** Names of a query's columns, in lower case. */
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
  return outputsOf(query, scope)?.map(({ name }) => name);
}

/** Names of a source's columns as its own query gives them. */
export function innerNames(source: LeafSource, place: LeafScope): readonly string[] | undefined {
  if (source.kind === 'values') return source.rows[0]?.map((_, at) => `col${at}`);
  if (source.kind === 'query') return namesOf(source.query, place);
  if (source.kind === 'common') {
    const at = place.common.findIndex(({ id }) => id === source.id);
    const known = place.common[at];
    if (known === undefined) return undefined;
    const before = { ...place, common: place.common.slice(0, at), outer: undefined };
    return withNames(namesOf(known.query, before), known.columns);
  }
  const table = place.level.tables[source.index];
  if (table === undefined) return undefined;
  if (table.kind === 'dataset') return columnNames(table).map(folded);
  return namesOf(table.plan.query, { ...place, level: table, common: [], outer: undefined });
}

/** Names as they are seen where the source stands: `AS t(a, b)` gives others to the first ones. */
const outerNames = (source: LeafSource, place: LeafScope): readonly string[] | undefined =>
  withNames(innerNames(source, place), source.columns);

const withNames = (
  names: readonly string[] | undefined,
  given: readonly string[],
): readonly string[] | undefined => names?.map((name, at) => folded(given[at] ?? name));
