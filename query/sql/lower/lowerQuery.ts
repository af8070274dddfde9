// Lowers queries of DuckDB's tree to ours.
import { definedNames, hasColumns, isSeveral } from './expressionParts.ts';
import { SIZE_MAX, sizeOf, sizeOfItems } from './querySize.ts';
import { hintsOf } from './hints.ts';
import { lowerExpression } from './lowerExpression.ts';
import { folded, type Lowering, makeLowering } from './lowering.ts';
import { lowerAll, lowerMaybe, lowerOrders } from './lowerParts.ts';
import type { CommonTable, Cut, Item, Query, SelectPlan } from '../plan/selectPlan.ts';
import type { Spelled } from '../text/spelling.ts';
import { lowerSource, namesIn } from './lowerSource.ts';
import { lowerStar } from './lowerStar.ts';
import { subsetRule } from '../text/tokens.ts';
import {
  type Fields,
  fieldsOf,
  listOf,
  oneOf,
  readStatement,
  take,
  textOf,
  textsOf,
} from '../text/tree.ts';

/**
 * @param json the output of json_serialize_sql for the spelled text
 * @throws Failure InvalidParameter naming the place and what is not part of the subset.
 */
export function lowerPlan(json: string, spelled: Spelled): SelectPlan {
  const to = makeLowering(spelled, lowerQuery, lowerExpression);
  const query = to.query(readStatement(json, spelled)['node']);
  const { hints, tables } = to;
  return {
    query,
    tables,
    hints,
    doubtful: findDoubtful(to),
    quoted: to.quoted,
    width: widthOf(query),
    momentary: to.momentary(),
  };
}

export const noColumnRule = (name: string): string => `${name} is no column: name one`;

/**
 * Lists columns that have the name of a table: such a column is the table's whole record, unless the table
 * has a column of that name.
 */
function findDoubtful(to: Lowering): SelectPlan['doubtful'] {
  return to.names.flatMap(({ at, name }) => {
    const lower = folded(name);
    return (to.sources.get(lower) ?? []).flatMap((source) => {
      if (source.kind === 'table') return [{ name, at, table: source.index }];
      if (source.columns.has(lower)) return [];
      return to.refuse(at, noColumnRule(name));
    });
  });
}

function widthOf(query: Query): number | undefined {
  if (query.kind === 'set') return widthOf(query.left);
  return query.items.some(isSeveral) ? undefined : query.items.length;
}

function lowerQuery(node: unknown, to: Lowering): Query {
  const type = textOf(fieldsOf(node)['type']);
  if (type === 'SELECT_NODE') return lowerSelect(node, to);
  if (type === 'SET_OPERATION_NODE') return lowerSet(node, to);
  if (type === 'RECURSIVE_CTE_NODE') {
    return to.refuse(undefined, subsetRule('WITH RECURSIVE'));
  }
  return to.refuse(undefined, subsetRule(type));
}

/** Each expands to at most a thousand columns: 100 of them run out of memory after 6 s. */
const STARS_MAX = 20;

const SELECT_FIELDS = [
  'modifiers',
  'cte_map',
  'select_list',
  'from_table',
  'where_clause',
  'group_expressions',
  'group_sets',
  'aggregate_handling',
  'having',
  'qualify',
];
const HANDLINGS: ReadonlyMap<string, boolean> = new Map([
  ['STANDARD_HANDLING', false],
  ['FORCE_AGGREGATES', true],
]);

function lowerSelect(node: unknown, to: Lowering): Query {
  const fields = take(node, SELECT_FIELDS, 'SELECT');
  return withCommon(fields, to, (common) => {
    // FROM first: that is the order in which tables are numbered.
    const from = lowerSource(fields['from_table'], to);
    const items = listOf(fields['select_list']).map((item) => lowerItem(item, to));
    if (sizeOfItems(items) > SIZE_MAX) to.refuse(undefined, TOO_LARGE);
    if (items.filter(isSeveral).length > STARS_MAX) {
      to.refuse(undefined, `a select list has at most ${STARS_MAX} of * and COLUMNS: name columns`);
    }
    const where = lowerMaybe(fields['where_clause'], to);
    if (where !== undefined && sizeOf(where) > SIZE_MAX) to.refuse(undefined, TOO_LARGE);
    to.hints.push(...hintsOf(from, where));
    const groupAll = oneOf(fields['aggregate_handling'], HANDLINGS, 'GROUP BY');
    const itemNames = items.flatMap(definedNames);
    const after = to.amongItems(itemNames, () => ({
      ...lowerModifiers(fields['modifiers'], to),
      groups: listOf(fields['group_expressions']).map((group) =>
        to.named(to.expression(group), to.at(fieldsOf(group))),
      ),
      having: lowerMaybe(fields['having'], to),
      qualify: lowerMaybe(fields['qualify'], to),
    }));
    const groupSets = listOf(fields['group_sets']).map((set) => listOf(set).map(Number));
    return { kind: 'select', common, ...after, items, from, where, groupSets, groupAll };
  });
}

type Ways = readonly ['UNION' | 'INTERSECT' | 'EXCEPT' | 'UNION BY NAME'];

const SET_WAYS: ReadonlyMap<string, Ways[0]> = new Map<string, Ways[0]>([
  ['UNION', 'UNION'],
  ['INTERSECT', 'INTERSECT'],
  ['EXCEPT', 'EXCEPT'],
  ['UNION_BY_NAME', 'UNION BY NAME'],
]);

function lowerSet(node: unknown, to: Lowering): Query {
  const fieldNames = [
    'modifiers',
    'cte_map',
    'setop_type',
    'left',
    'right',
    'setop_all',
    'children',
  ];
  const fields = take(node, fieldNames, 'UNION');
  return withCommon(fields, to, (common) => {
    const sides = fields['left'] === undefined ? listOf(fields['children']) : [];
    const nodes = sides.length === 2 ? sides : [fields['left'], fields['right']];
    const left = to.query(nodes[0]);
    const right = to.query(nodes[1]);
    const { distinct, distinctOn, ...cut } = to.amongItems(namesIn(left), () =>
      lowerModifiers(fields['modifiers'], to),
    );
    if (distinct || distinctOn.length > 0) to.refuse(undefined, 'DISTINCT belongs in a SELECT');
    return {
      kind: 'set',
      common,
      ...cut,
      how: oneOf(fields['setop_type'], SET_WAYS, 'a set operation'),
      all: fields['setop_all'] === true,
      left,
      right,
    };
  });
}

const MATERIALS: ReadonlyMap<string, CommonTable['materialized']> = new Map<
  string,
  CommonTable['materialized']
>([
  ['CTE_MATERIALIZE_DEFAULT', ''],
  ['CTE_MATERIALIZE_ALWAYS', 'MATERIALIZED'],
  // An inlined common table would grow with each that uses another.
  ['CTE_MATERIALIZE_NEVER', ''],
]);

/** Lowers WITH: each common table sees those before it; the query sees all. */
function withCommon(
  fields: Fields,
  to: Lowering,
  work: (common: readonly CommonTable[]) => Query,
): Query {
  const entries = listOf(take(fields['cte_map'] ?? {}, ['map'], 'WITH')['map']);
  const lowered: CommonTable[] = [];
  for (const entry of entries) {
    const { key, value } = take(entry, ['key', 'value'], 'WITH');
    const common = take(value, ['aliases', 'query', 'materialized'], 'WITH');
    const node = take(common['query'], ['node'], 'WITH')['node'];
    const query = to.within([...lowered], () => to.query(node));
    const materialized = oneOf(common['materialized'], MATERIALS, 'WITH');
    const columns = textsOf(common['aliases']);
    lowered.push({ id: to.nextId(), name: textOf(key), columns, query, materialized });
  }
  return to.within([...lowered], () => work(lowered));
}

const TOO_LARGE =
  'a column that names others, which name others, grows too large: make sub-selects of them';

interface Modifiers extends Cut {
  readonly distinct: boolean;
  readonly distinctOn: SelectPlanDistinct;
}
type SelectPlanDistinct = Extract<Query, { kind: 'select' }>['distinctOn'];

function lowerModifiers(nodes: unknown, to: Lowering): Modifiers {
  let modifiers: Modifiers = {
    distinct: false,
    distinctOn: [],
    order: [],
    limit: undefined,
    offset: undefined,
  };
  for (const node of listOf(nodes)) modifiers = { ...modifiers, ...lowerModifier(node, to) };
  return modifiers;
}

function lowerModifier(node: unknown, to: Lowering): Partial<Modifiers> {
  const type = textOf(fieldsOf(node)['type']);
  if (type === 'ORDER_MODIFIER') {
    return { order: lowerOrders(take(node, ['orders'], 'ORDER BY')['orders'], to) };
  }
  if (type === 'LIMIT_MODIFIER') {
    const { limit, offset } = take(node, ['limit', 'offset'], 'LIMIT');
    return { limit: lowerCount(limit, 'LIMIT', to), offset: lowerCount(offset, 'OFFSET', to) };
  }
  if (type === 'DISTINCT_MODIFIER') {
    const targets = take(node, ['distinct_on_targets'], 'DISTINCT')['distinct_on_targets'];
    const distinctOn = lowerAll(targets, to);
    return { distinct: distinctOn.length === 0, distinctOn };
  }
  return to.refuse(undefined, 'LIMIT takes a whole number, no percentage');
}

function lowerCount(node: unknown, what: string, to: Lowering): number | undefined {
  if (node === null || node === undefined) return undefined;
  const value = to.expression(node);
  if (value.kind === 'null') return undefined;
  const count = value.kind === 'number' ? Number(value.digits) : NaN;
  if (Number.isSafeInteger(count) && count >= 0) return count;
  return to.refuse(to.at(fieldsOf(node)), `${what} takes a whole number`);
}

function lowerItem(node: unknown, to: Lowering): Item {
  const fields = fieldsOf(node);
  if (fields['class'] === 'STAR') return lowerStar(node, to);
  const alias = textOf(fields['alias']);
  const expression = to.expression({ ...fields, alias: '' });
  const several = hasColumns(expression) ? { several: true as const } : {};
  return { kind: 'value', expression, alias: alias === '' ? undefined : alias, ...several };
}
