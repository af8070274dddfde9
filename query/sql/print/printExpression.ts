// Prints expressions of a plan as SQL: names quoted, texts bound, everything in parentheses.
import type { Writer } from './writer.ts';
import { printOperator } from '../plan/operators.ts';
import { identifier, literal } from '../../../store/duckdb/sqlText.ts';
import type { Bound, Columns, Expression, OrderTerm, Window } from '../plan/selectPlan.ts';

type Printers = {
  readonly [K in Expression['kind']]: (
    expression: Extract<Expression, { readonly kind: K }>,
    to: Writer,
  ) => string;
};

const PRINTERS: Printers = {
  column: ({ path }, to) => to.column(path),
  number: ({ digits }) => (digits.startsWith('-') ? `(${digits})` : digits),
  text: ({ value }, to) => to.text(value),
  truth: ({ value }) => (value ? 'TRUE' : 'FALSE'),
  null: () => 'NULL',
  moment: ({ what }, to) => to.moment(what),
  operator: ({ name, operands }, to) => printOperator(name, all(operands, to)),
  call: printCall,
  window: printWindow,
  compare: ({ left, operator, right }, to) =>
    `(${printExpression(left, to)} ${operator} ${printExpression(right, to)})`,
  logic: ({ operands, operator }, to) => `(${all(operands, to).join(` ${operator} `)})`,
  not: ({ operand }, to) => `(NOT ${printExpression(operand, to)})`,
  isNull: ({ negated, operand }, to) =>
    `(${printExpression(operand, to)} IS ${negated ? 'NOT ' : ''}NULL)`,
  in: ({ list, negated, operand }, to) =>
    `(${printExpression(operand, to)} ${negated ? 'NOT ' : ''}IN (${all(list, to).join(', ')}))`,
  between: ({ lower, operand, upper }, to) => {
    const [value, from, until] = all([operand, lower, upper], to);
    return `(${value} BETWEEN ${from} AND ${until})`;
  },
  case: ({ checks, otherwise }, to) => {
    const arms = checks.map(
      ({ when, then }) => `WHEN ${printExpression(when, to)} THEN ${printExpression(then, to)}`,
    );
    return `(CASE ${arms.join(' ')} ELSE ${printExpression(otherwise, to)} END)`;
  },
  cast: ({ attempt, operand, type }, to) =>
    `${attempt ? 'TRY_CAST' : 'CAST'}(${printExpression(operand, to)} AS ${type})`,
  coalesce: ({ operands }, to) => `COALESCE(${all(operands, to).join(', ')})`,
  grouping: ({ operands }, to) => `GROUPING(${all(operands, to).join(', ')})`,
  columns: printColumns,
  exists: ({ query }, to) => `EXISTS (${to.query(query)})`,
  scalar: ({ query }, to) => `(${to.query(query)})`,
  any: ({ operand, operator, query }, to) =>
    `(${printExpression(operand, to)} ${operator} ANY (${to.query(query)}))`,
};

/** Prints a star as an item of a select list. */
export function printStar({ except, relation }: Columns): string {
  const star = relation === undefined ? '*' : `${identifier(relation)}.*`;
  return except.length === 0 ? star : `${star} EXCLUDE (${except.map(identifier).join(', ')})`;
}

/** Prints the pattern as a literal: DuckDB accepts nothing else there. */
export function printColumns(columns: Columns): string {
  const { pattern } = columns;
  return `COLUMNS(${pattern === undefined ? printStar(columns) : literal(pattern)})`;
}

export function printExpression(expression: Expression, to: Writer): string {
  const print = PRINTERS[expression.kind] as (expression: Expression, to: Writer) => string;
  return print(expression, to);
}

const all = (expressions: readonly Expression[], to: Writer): readonly string[] =>
  expressions.map((expression) => printExpression(expression, to));

function printCall(call: Extract<Expression, { readonly kind: 'call' }>, to: Writer): string {
  const { distinct, filter, function: sqlFunction, operands, order } = call;
  const isCount = sqlFunction.name === 'count_star';
  const list = isCount ? '*' : all(operands, to).join(', ');
  const ordered = order.length === 0 ? '' : ` ORDER BY ${printOrders(order, to)}`;
  const name = isCount ? 'count' : sqlFunction.name;
  const text = `${to.name(name)}(${distinct ? 'DISTINCT ' : ''}${list}${ordered})`;
  return filter === undefined ? text : `${text} FILTER (WHERE ${printExpression(filter, to)})`;
}

function printWindow(window: Window, to: Writer): string {
  const { argumentOrder, distinct, filter, frame, ignoreNulls, name, operands } = window;
  const isCount = name === 'count_star';
  const list = isCount ? '*' : all(operands, to).join(', ');
  const ordered = argumentOrder.length === 0 ? '' : ` ORDER BY ${printOrders(argumentOrder, to)}`;
  const nulls = ignoreNulls ? ' IGNORE NULLS' : '';
  const argumentList = `${distinct ? 'DISTINCT ' : ''}${list}${ordered}${nulls}`;
  const call = `${to.name(isCount ? 'count' : name)}(${argumentList})`;
  const filterClause = filter === undefined ? '' : ` FILTER (WHERE ${printExpression(filter, to)})`;
  const parts = [
    window.partition.length === 0 ? '' : `PARTITION BY ${all(window.partition, to).join(', ')}`,
    window.order.length === 0 ? '' : `ORDER BY ${printOrders(window.order, to)}`,
    frame === undefined
      ? ''
      : `${frame.unit} BETWEEN ${printBound(frame.start, to)} AND ${printBound(frame.end, to)}`,
    frame?.exclude ?? '',
  ];
  return `${call}${filterClause} OVER (${parts.filter((part) => part !== '').join(' ')})`;
}

const printBound = ({ distance, text }: Bound, to: Writer): string =>
  distance === undefined ? text : `${printExpression(distance, to)} ${text}`;

export function printOrders(orders: readonly OrderTerm[], to: Writer): string {
  return orders
    .map(({ direction, expression, nulls }) => {
      const by = expression === 'all' ? 'ALL' : printExpression(expression, to);
      return [by, direction, nulls].filter((part) => part !== '').join(' ');
    })
    .join(', ');
}

/** Names a column without an alias: its expression, as a person would write it. */
export function labelOf(expression: Expression, plain: Writer): string {
  if (expression.kind === 'column') return expression.path.at(-1) ?? '';
  return printExpression(expression, plain).slice(0, LABEL_MAX);
}

const LABEL_MAX = 120;

/** A writer of labels: names and texts as they are, an ellipsis for a sub-select. */
export const PLAIN: Writer = {
  column: (path) => path.at(-1) ?? '',
  text: (value) => `'${value}'`,
  moment: (what) => `current_${what}`,
  name: (name) => name,
  query: () => '…',
  table: () => '',
};
