// Lowers expressions of DuckDB's tree to ours. Any class that is not listed here is refused.
import { lookupTable } from '../../../store/base/lookupTable.ts';
import { literalOf, typeOf } from './literals.ts';
import type { Lowering } from './lowering.ts';
import { isOperator } from '../plan/operators.ts';
import {
  checkedFunction,
  lowerAll,
  lowerMaybe,
  lowerOrders,
  orderedList,
  refuseSchema,
} from './lowerParts.ts';
import { lowerColumns } from './lowerStar.ts';
import { lowerWindow } from './lowerWindow.ts';
import type { Expression } from '../plan/selectPlan.ts';
import { subsetRule } from '../text/tokens.ts';
import { type Fields, fieldsOf, listOf, oneOf, take, textOf, textsOf } from '../text/tree.ts';

const COMPARISONS: ReadonlyMap<string, string> = new Map([
  ['COMPARE_EQUAL', '='],
  ['COMPARE_NOTEQUAL', '<>'],
  ['COMPARE_LESSTHAN', '<'],
  ['COMPARE_GREATERTHAN', '>'],
  ['COMPARE_LESSTHANOREQUALTO', '<='],
  ['COMPARE_GREATERTHANOREQUALTO', '>='],
  ['COMPARE_DISTINCT_FROM', 'IS DISTINCT FROM'],
  ['COMPARE_NOT_DISTINCT_FROM', 'IS NOT DISTINCT FROM'],
]);

type Lower = (node: unknown, fields: Fields, to: Lowering) => Expression;

const CLASSES: ReadonlyMap<string, Lower> = new Map<string, Lower>([
  ['COLUMN_REF', lowerColumn],
  ['CONSTANT', lowerConstant],
  ['LAMBDA', lowerArrow],
  ['FUNCTION', lowerFunction],
  ['WINDOW', lowerWindow],
  ['COMPARISON', lowerComparison],
  ['CONJUNCTION', lowerLogic],
  ['OPERATOR', lowerOperator],
  ['BETWEEN', lowerBetween],
  ['CASE', lowerCase],
  ['CAST', lowerCast],
  ['SUBQUERY', lowerSubquery],
  ['STAR', lowerColumns],
]);

/** Messages for classes that are refused. */
const REFUSED = lookupTable<string>({
  COLLATE: subsetRule('COLLATE'),
  PARAMETER: 'name a parameter, :name, and give its value',
  POSITIONAL_REFERENCE: `${subsetRule('#1')}: name the column`,
  DEFAULT: subsetRule('DEFAULT'),
});

/** @throws Failure InvalidParameter naming the place and what is not part of the subset. */
export function lowerExpression(node: unknown, to: Lowering): Expression {
  const fields = fieldsOf(node);
  const name = textOf(fields['class']);
  const lower = CLASSES.get(name);
  if (lower === undefined) {
    return to.refuse(to.at(fields), REFUSED[name] ?? subsetRule(name));
  }
  return lower(node, fields, to);
}

const MOMENTS: ReadonlyMap<string, 'date' | 'timestamp'> = new Map([
  ['current_date', 'date'],
  ['today', 'date'],
  ['now', 'timestamp'],
  ['current_timestamp', 'timestamp'],
  ['localtimestamp', 'timestamp'],
  ['get_current_timestamp', 'timestamp'],
]);

/** Names that DuckDB resolves to its own functions if no column has them. */
const ENGINE_NAMES: ReadonlySet<string> = new Set([
  'current_catalog',
  'current_database',
  'current_role',
  'current_schema',
  'current_time',
  'current_user',
  'localtime',
  'session_user',
  'system_user',
  'user',
]);

function lowerConstant(node: unknown, fields: Fields, to: Lowering): Expression {
  const literal = literalOf(node);
  if (literal.kind === 'text') to.noteQuoted(literal.value, to.at(fields));
  return literal;
}

function lowerColumn(node: unknown, _fields: Fields, to: Lowering): Expression {
  const fields = take(node, ['column_names'], 'a column');
  const path = textsOf(fields['column_names']);
  const [first = ''] = path;
  const what = path.length === 1 ? MOMENTS.get(first.toLowerCase()) : undefined;
  if (what !== undefined) return to.moment(what);
  if (path.length > 3) to.refuse(to.at(fields), 'a column is named by at most three parts');
  if (path.length === 1) {
    if (ENGINE_NAMES.has(first.toLowerCase())) {
      to.refuse(to.at(fields), `${first} is a word of SQL: put the table's name before it`);
    }
    to.names.push({ name: first, at: to.at(fields) });
  }
  return { kind: 'column', path, at: to.at(fields) };
}

const CALL_FIELDS = [
  'function_name',
  'schema',
  'children',
  'filter',
  'order_bys',
  'distinct',
  'is_operator',
];

function lowerFunction(node: unknown, _fields: Fields, to: Lowering): Expression {
  const fields = take(node, CALL_FIELDS, 'a function');
  const name = textOf(fields['function_name']).toLowerCase();
  const at = to.at(fields);
  refuseSchema(textOf(fields['schema']), at, to);
  const order = lowerOrders(fieldsOf(fields['order_bys'] ?? {})['orders'], to);
  const filter = lowerMaybe(fields['filter'], to);
  const distinct = fields['distinct'] === true;
  const operands = lowerAll(fields['children'], to);
  const plain = order.length === 0 && filter === undefined && !distinct;
  const what = MOMENTS.get(name);
  if (what !== undefined && operands.length === 0 && plain) return to.moment(what);
  if (isOperator(name, operands.length) && plain) return { kind: 'operator', name, operands };
  const ordered = orderedList(name, operands);
  if (ordered !== undefined && plain) return ordered;
  const sqlFunction = checkedFunction(name, operands, at, to);
  if (sqlFunction.kind === 'window') to.refuse(at, `${name} needs a window: ${name}(…) OVER (…)`);
  if (!plain && sqlFunction.kind !== 'aggregate') {
    to.refuse(at, `DISTINCT, ORDER BY and FILTER belong to aggregates, and ${name} is none`);
  }
  return { kind: 'call', function: sqlFunction, operands, distinct, order, filter, at };
}

/** `a -> b` reads a member of a JSON value; functions of lambdas are not on the list. */
function lowerArrow(node: unknown, _fields: Fields, to: Lowering): Expression {
  const fields = take(node, ['lhs', 'expr'], 'a lambda');
  const operands = [to.expression(fields['lhs']), to.expression(fields['expr'])];
  return { kind: 'operator', name: '->', operands };
}

function lowerComparison(node: unknown, _fields: Fields, to: Lowering): Expression {
  const fields = take(node, ['left', 'right'], 'a comparison');
  const operator = oneOf(fields['type'], COMPARISONS, 'a comparison');
  const [left, right] = [fields['left'], fields['right']].map((side) => to.expression(side));
  if (left === undefined || right === undefined) return to.refuse(undefined, 'a side is missing');
  return { kind: 'compare', operator, left, right };
}

const LOGIC: ReadonlyMap<string, 'AND' | 'OR'> = new Map([
  ['CONJUNCTION_AND', 'AND'],
  ['CONJUNCTION_OR', 'OR'],
]);

function lowerLogic(node: unknown, _fields: Fields, to: Lowering): Expression {
  const fields = take(node, ['children'], 'AND or OR');
  const operator = oneOf(fields['type'], LOGIC, 'a conjunction');
  return { kind: 'logic', operator, operands: lowerAll(fields['children'], to) };
}

function lowerOperator(node: unknown, _fields: Fields, to: Lowering): Expression {
  const fields = take(node, ['children'], 'an operator');
  const type = textOf(fields['type']);
  if (type === 'ARRAY_SLICE') return slice(fields, to);
  const operands = lowerAll(fields['children'], to);
  const [operand, ...list] = operands;
  if (operand === undefined) return to.refuse(to.at(fields), `${type} has no operand`);
  if (type === 'OPERATOR_NOT') return { kind: 'not', operand };
  if (type === 'OPERATOR_IS_NULL') return { kind: 'isNull', negated: false, operand };
  if (type === 'OPERATOR_IS_NOT_NULL') return { kind: 'isNull', negated: true, operand };
  if (type === 'COMPARE_IN') return { kind: 'in', negated: false, operand, list };
  if (type === 'COMPARE_NOT_IN') return { kind: 'in', negated: true, operand, list };
  if (type === 'OPERATOR_COALESCE') return { kind: 'coalesce', operands };
  if (type === 'GROUPING_FUNCTION') return { kind: 'grouping', operands };
  if (type === 'ARRAY_EXTRACT') return { kind: 'operator', name: '[]', operands };
  return to.refuse(to.at(fields), subsetRule('structs', 'are'));
}

/** Bounds of an open side: beyond any list. */
const SLICE_ENDS = ['1', '2147483647'];

function slice(fields: Fields, to: Lowering): Expression {
  const [what, ...sides] = listOf(fields['children']);
  if (sides.length > SLICE_ENDS.length) to.refuse(to.at(fields), 'a slice has no step');
  const ends = sides.map((side, at): Expression => {
    if (!isOpen(side)) return to.expression(side);
    return { kind: 'number', digits: SLICE_ENDS[at] ?? '' };
  });
  return { kind: 'operator', name: '[:]', operands: [to.expression(what), ...ends] };
}

/** Whether a side is missing: DuckDB's parser represents it as an empty list. */
function isOpen(side: unknown): boolean {
  const { class: name, value } = fieldsOf(side);
  return textOf(name) === 'CONSTANT' && textOf(fieldsOf(fieldsOf(value)['type'])['id']) === 'LIST';
}

function lowerBetween(node: unknown, _fields: Fields, to: Lowering): Expression {
  const fields = take(node, ['input', 'lower', 'upper'], 'BETWEEN');
  return {
    kind: 'between',
    operand: to.expression(fields['input']),
    lower: to.expression(fields['lower']),
    upper: to.expression(fields['upper']),
  };
}

function lowerCase(node: unknown, _fields: Fields, to: Lowering): Expression {
  const fields = take(node, ['case_checks', 'else_expr'], 'CASE');
  const checks = listOf(fields['case_checks']).map((check) => {
    const { when_expr: when, then_expr: then } = take(check, ['when_expr', 'then_expr'], 'CASE');
    return { when: to.expression(when), then: to.expression(then) };
  });
  return { kind: 'case', checks, otherwise: to.expression(fields['else_expr']) };
}

function lowerCast(node: unknown, _fields: Fields, to: Lowering): Expression {
  const fields = take(node, ['child', 'cast_type', 'try_cast'], 'CAST');
  const operand = to.expression(fields['child']);
  const attempt = fields['try_cast'] === true;
  const type = typeOf(fields['cast_type']);
  // DuckDB's parser represents TRUE as a cast of 't'.
  const isTruth = type === 'BOOLEAN' && operand.kind === 'text' && /^[tf]$/.test(operand.value);
  if (isTruth) return { kind: 'truth', value: operand.value === 't' };
  return { kind: 'cast', operand, type, attempt };
}

const SUBQUERY_FIELDS = ['subquery_type', 'subquery', 'child', 'comparison_type'];

function lowerSubquery(node: unknown, _fields: Fields, to: Lowering): Expression {
  const fields = take(node, SUBQUERY_FIELDS, 'a sub-select');
  const query = to.query(take(fields['subquery'], ['node'], 'a sub-select')['node']);
  const type = textOf(fields['subquery_type']);
  if (type === 'EXISTS') return { kind: 'exists', query };
  if (type === 'SCALAR') return { kind: 'scalar', query };
  if (type !== 'ANY') return to.refuse(to.at(fields), subsetRule(type));
  const operator = oneOf(fields['comparison_type'], COMPARISONS, 'a comparison');
  return { kind: 'any', operator, operand: to.expression(fields['child']), query };
}
