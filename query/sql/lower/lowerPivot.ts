// Lowers PIVOT and UNPIVOT with explicit columns to equivalent queries: an aggregate with a filter for each
// value, and one SELECT for each column.
import type { Expression, Item, Query, SelectQuery, Source } from '../plan/selectPlan.ts';
import { labelOf, PLAIN } from '../print/printExpression.ts';
import { type Fields, fieldsOf, listOf, take, textOf, textsOf } from '../text/tree.ts';
import { columnsIn } from './expressionParts.ts';
import { partsOf, SIZE_MAX, sizeOfItems } from './querySize.ts';
import { literalOf } from './literals.ts';
import type { Lowering } from './lowering.ts';

/** Columns that one of them may create. */
const ENTRIES_MAX = 200;
/** An UNPIVOT reads its source once for each column; nested ones multiply. */
const SELECTS_MAX = 1_000;

const PIVOT_FIELDS = [
  'alias',
  'column_name_alias',
  'source',
  'aggregates',
  'unpivot_names',
  'pivots',
  'groups',
  'include_nulls',
];

const ONE_FOR = 'PIVOT takes one FOR';

interface Entry {
  readonly value: Expression;
  readonly name: string;
}

/** @param source the lowered source before the word */
export function lowerPivot(node: unknown, source: Source, to: Lowering): Query {
  const fields = take(node, PIVOT_FIELDS, 'PIVOT');
  const at = to.at(fields);
  const [pivot, ...more] = listOf(fields['pivots']);
  if (more.length > 0) to.refuse(at, ONE_FOR);
  const names = textsOf(fields['unpivot_names']);
  if (names.length > 1) to.refuse(at, 'UNPIVOT makes one column of values');
  const pivotFields = take(pivot, ['pivot_expressions', 'unpivot_names', 'entries'], 'PIVOT');
  const entries = lowerEntries(pivotFields, to);
  if (entries.length > ENTRIES_MAX) to.refuse(at, `PIVOT makes at most ${ENTRIES_MAX} columns`);
  const [value] = names;
  if (value === undefined) return buildPivot(fields, pivotFields, entries, source, to);
  const [name = ''] = textsOf(pivotFields['unpivot_names']);
  return buildUnpivot(
    entries,
    { name, value, isWhole: fields['include_nulls'] === true },
    source,
    to,
  );
}

function lowerEntries({ entries }: Fields, to: Lowering): readonly Entry[] {
  return listOf(entries).map((entry) => {
    const { alias, star_expr: star, values } = fieldsOf(entry);
    const [value, ...more] = listOf(values);
    if (star !== undefined && star !== null)
      to.refuse(undefined, 'PIVOT names its columns one by one');
    if (value === undefined || more.length > 0) to.refuse(undefined, 'PIVOT takes single values');
    const literal = literalOf({ value });
    return { value: literal, name: textOf(alias) || textOfLiteral(literal) };
  });
}

function textOfLiteral(literal: Expression): string {
  if (literal.kind === 'text') return literal.value;
  if (literal.kind === 'number') return literal.digits;
  if (literal.kind === 'truth') return String(literal.value);
  return 'NULL';
}

const PLAIN_SELECT: Omit<SelectQuery, 'items' | 'from' | 'where'> = {
  kind: 'select',
  common: [],
  distinct: false,
  distinctOn: [],
  groups: [],
  groupSets: [],
  groupAll: false,
  having: undefined,
  qualify: undefined,
  order: [],
  limit: undefined,
  offset: undefined,
};

const starBut = (except: readonly string[]): Item => ({
  kind: 'star',
  relation: undefined,
  except,
  pattern: undefined,
  replace: [],
  rename: [],
});

const item = (expression: Expression, alias: string): Item => ({
  kind: 'value',
  expression,
  alias,
});

/** Builds a column from a name, which may also be that of a table. */
function columnOf(name: string, to: Lowering): Expression {
  to.names.push({ name, at: undefined });
  return { kind: 'column', path: [name], at: undefined };
}

function buildUnpivot(
  entries: readonly Entry[],
  {
    isWhole,
    name,
    value,
  }: { readonly name: string; readonly value: string; readonly isWhole: boolean },
  from: Source,
  to: Lowering,
): Query {
  if (entries.length * Math.max(1, selectsIn(from)) > SELECTS_MAX) {
    to.refuse(undefined, `UNPIVOT in UNPIVOT makes at most ${SELECTS_MAX} SELECTs`);
  }
  const columns = entries.map((entry) => textOfLiteral(entry.value));
  const sides = entries.map((entry, at): Query => {
    const operand = columnOf(columns[at] ?? '', to);
    const nameItem = item({ kind: 'text', value: entry.name }, name);
    const where: Expression = { kind: 'isNull', negated: true, operand };
    const items = [starBut(columns), nameItem, item(operand, value)];
    return { ...PLAIN_SELECT, items, from, where: isWhole ? undefined : where };
  });
  const [first, ...rest] = sides;
  if (first === undefined) return to.refuse(undefined, 'UNPIVOT names at least one column');
  return rest.reduce<Query>(
    (left, right) => ({
      kind: 'set',
      common: [],
      how: 'UNION',
      all: true,
      left,
      right,
      order: [],
      limit: undefined,
      offset: undefined,
    }),
    first,
  );
}

function buildPivot(
  fields: Fields,
  { pivot_expressions: over }: Fields,
  entries: readonly Entry[],
  from: Source,
  to: Lowering,
): Query {
  const [operand, ...more] = listOf(over).map((one) => to.expression(one));
  if (operand === undefined || more.length > 0) return to.refuse(undefined, ONE_FOR);
  const aggregates = listOf(fields['aggregates']).map((one) => aggregateOf(one, to));
  const groups = textsOf(fields['groups']).map((name) => columnOf(name, to));
  const used = [operand, ...aggregates.map(({ call }) => call)].flatMap(namesIn);
  const valueItems = entries.flatMap(({ name, value }) =>
    aggregates.map(({ alias, call }) => {
      const suffix =
        aggregates.length > 1 || alias !== '' ? `_${alias || labelOf(call, PLAIN)}` : '';
      const called = `${name}${suffix}`;
      if (called === '') to.refuse(undefined, "PIVOT makes no column without a name: '' AS name");
      return item({ ...call, filter: isEqual(operand, value) }, called);
    }),
  );
  if (valueItems.reduce((sum, one) => sum + sizeOfItems([one]), 0) > SIZE_MAX) {
    to.refuse(undefined, 'PIVOT grows too large: compute what it compares in a sub-select');
  }
  const keyItems = groups.length === 0 ? [starBut([...new Set(used)])] : groups.map(asItem);
  const grouping = groups.length === 0 ? { groupAll: true } : { groups };
  return {
    ...PLAIN_SELECT,
    ...grouping,
    items: [...keyItems, ...valueItems],
    from,
    where: undefined,
  };
}

/** Counts the SELECTs of a source and its sub-selects, as often as they are printed. */
function selectsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const { kind } = value as { readonly kind?: unknown };
  return Object.values(value).reduce<number>(
    (sum, one) => (sum > SELECTS_MAX ? sum : sum + selectsIn(one)),
    kind === 'select' ? 1 : 0,
  );
}

const asItem = (expression: Expression): Item => ({ kind: 'value', expression, alias: undefined });

const isEqual = (left: Expression, right: Expression): Expression =>
  right.kind === 'null'
    ? { kind: 'isNull', negated: false, operand: left }
    : { kind: 'compare', operator: '=', left, right };

type Call = Extract<Expression, { readonly kind: 'call' }>;

function aggregateOf(node: unknown, to: Lowering): { readonly call: Call; readonly alias: string } {
  const fields = fieldsOf(node);
  const call = to.expression({ ...fields, alias: '' });
  const isPlain = call.kind === 'call' && call.function.kind === 'aggregate';
  if (!isPlain || call.filter !== undefined) {
    return to.refuse(to.at(fields), 'PIVOT computes an aggregate, without a FILTER of its own');
  }
  return { call, alias: textOf(fields['alias']) };
}

/** Returns the columns that are aggregated or compared; the answer does not repeat them. */
const namesIn = (expression: Expression): readonly string[] =>
  (expression.kind === 'call' ? partsOf(expression) : [expression]).flatMap(
    (part) => columnsIn(part)?.map(({ path }) => path.at(-1) ?? '') ?? [],
  );
