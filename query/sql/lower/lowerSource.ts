// Lowers the FROM of DuckDB's tree to our sources.
import { lookupTable } from '../../../store/base/lookupTable.ts';
import { definedNames } from './expressionParts.ts';
import { lowerPivot } from './lowerPivot.ts';
import { lowerAll, lowerMaybe } from './lowerParts.ts';
import { folded, type Lowering } from './lowering.ts';
import type { Join, Query, Source } from '../plan/selectPlan.ts';
import { subsetRule } from '../text/tokens.ts';
import { fieldsOf, listOf, oneOf, take, textOf, textsOf } from '../text/tree.ts';

/** Rows of one VALUES. */
const VALUES_MAX = 5_000;

/** @throws Failure InvalidParameter naming the place and what is not part of the subset. */
export function lowerSource(node: unknown, to: Lowering): Source {
  const fields = fieldsOf(node);
  const type = textOf(fields['type']);
  if (type === 'EMPTY') return { kind: 'nothing' };
  if (type === 'BASE_TABLE') return lowerTable(node, to);
  if (type === 'JOIN') return lowerJoin(node, to);
  if (type === 'SUBQUERY') {
    const subquery = take(node, ['alias', 'subquery', 'column_name_alias'], 'a sub-select');
    const query = to.query(take(subquery['subquery'], ['node'], 'a sub-select')['node']);
    return registerName({ kind: 'query', query, ...namesOf(subquery) }, to);
  }
  if (type === 'PIVOT') {
    const query = lowerPivot(node, lowerSource(fields['source'], to), to);
    return registerName({ kind: 'query', query, ...namesOf(fields) }, to);
  }
  if (type === 'EXPRESSION_LIST') {
    const fieldNames = ['alias', 'values', 'column_name_alias', 'expected_names', 'expected_types'];
    const list = take(node, fieldNames, 'VALUES');
    const rows = listOf(list['values']).map((row) => lowerAll(row, to));
    if (rows.length > VALUES_MAX) to.refuse(to.at(fields), `at most ${VALUES_MAX} VALUES`);
    return registerName({ kind: 'values', rows, ...namesOf(list) }, to);
  }
  return to.refuse(to.at(fields), REFUSED[type] ?? subsetRule(type));
}

const REFUSED = lookupTable<string>({
  TABLE_FUNCTION: `${subsetRule('a function in FROM')}: name a dataset`,
  SHOW_REF: subsetRule('SHOW, DESCRIBE and SUMMARIZE', 'are'),
});

interface Names {
  readonly alias: string;
  readonly columns: readonly string[];
}

const namesOf = (fields: Readonly<Record<string, unknown>>): Names => ({
  alias: textOf(fields['alias']),
  columns: textsOf(fields['column_name_alias']),
});

/** Registers the name of a source and returns the source. */
function registerName(source: Named, to: Lowering): Source {
  const name = folded(source.alias);
  if (name === '') return source;
  const target =
    source.kind === 'table'
      ? ({ kind: 'table', index: source.index } as const)
      : ({ kind: 'made', columns: columnsOf(source) } as const);
  to.sources.set(name, [...(to.sources.get(name) ?? []), target]);
  return source;
}

type Named = Exclude<Source, { readonly kind: 'nothing' | 'join' }>;

/** Returns the columns that a source names, in lower case; those of a star are unknown. */
function columnsOf(source: Named): ReadonlySet<string> {
  const own = source.kind === 'query' ? namesIn(source.query) : [];
  return new Set([...source.columns, ...own].map(folded));
}

/** Returns the names of a query's columns that are explicit. */
export function namesIn(query: Query): readonly string[] {
  if (query.kind === 'set') return namesIn(query.left);
  return query.items.flatMap((item) => {
    if (item.kind === 'star') return definedNames(item);
    const { alias, expression } = item;
    return [alias ?? (expression.kind === 'column' ? (expression.path.at(-1) ?? '') : '')];
  });
}

function lowerTable(node: unknown, to: Lowering): Source {
  const fieldNames = ['alias', 'schema_name', 'table_name', 'column_name_alias'];
  const fields = take(node, fieldNames, 'a table');
  const workspace = textOf(fields['schema_name']);
  const name = textOf(fields['table_name']);
  const { alias, columns } = namesOf(fields);
  const table = { workspace: workspace === '' ? undefined : workspace, name, at: to.at(fields) };
  const source = to.table(table, alias === '' ? name : alias, columns);
  return source.kind === 'table' || source.kind === 'common' ? registerName(source, to) : source;
}

const JOIN_FIELDS = [
  'alias',
  'left',
  'right',
  'condition',
  'join_type',
  'ref_type',
  'using_columns',
];
const JOINS: ReadonlyMap<string, Join['how']> = new Map<string, Join['how']>(
  (['INNER', 'LEFT', 'RIGHT', 'FULL', 'SEMI', 'ANTI'] as const).map((how) => [how, how]),
);
const WAYS: ReadonlyMap<string, 'REGULAR' | 'CROSS' | 'ASOF'> = new Map(
  (['REGULAR', 'CROSS', 'ASOF'] as const).map((way) => [way, way]),
);

function lowerJoin(node: unknown, to: Lowering): Source {
  const fields = take(node, JOIN_FIELDS, 'a join');
  const way = WAYS.get(textOf(fields['ref_type']));
  if (way === undefined) {
    const name = textOf(fields['ref_type']);
    return to.refuse(to.at(fields), `${subsetRule(`a ${name} join`)}: write ON or USING`);
  }
  const how = way === 'CROSS' ? 'CROSS' : oneOf(fields['join_type'], JOINS, 'the join');
  const left = lowerSource(fields['left'], to);
  const right = lowerSource(fields['right'], to);
  const on = lowerMaybe(fields['condition'], to);
  const using = textsOf(fields['using_columns']);
  return { kind: 'join', how, asOf: way === 'ASOF', left, right, on, using };
}
