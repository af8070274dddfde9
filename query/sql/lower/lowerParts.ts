// Lowers parts that expressions, windows and sources share: lists, calls of the allow-list, orders.
import { findFunction, nearestFunction } from '../functions/functions.ts';
import type { Lowering } from './lowering.ts';
import type { Expression, OrderTerm, TextPlace } from '../plan/selectPlan.ts';
import { subsetRule } from '../text/tokens.ts';
import { fieldsOf, listOf, oneOf, take } from '../text/tree.ts';

export const lowerAll = (nodes: unknown, to: Lowering): readonly Expression[] =>
  listOf(nodes).map((node) => to.expression(node));

export const lowerMaybe = (node: unknown, to: Lowering): Expression | undefined =>
  node === null || node === undefined ? undefined : to.expression(node);

/** @throws Failure InvalidParameter for a function of a schema that is not DuckDB's own. */
export function refuseSchema(schema: string, at: TextPlace, to: Lowering): void {
  if (['', 'main'].includes(schema)) return;
  to.refuse(at, subsetRule(`a function of schema ${schema}`));
}

/** @throws Failure InvalidParameter for a function that is not on the list, or another count. */
export function checkedFunction(
  name: string,
  operands: readonly Expression[],
  at: TextPlace,
  to: Lowering,
): NonNullable<ReturnType<typeof findFunction>> {
  const sqlFunction = findFunction(name);
  if (sqlFunction === undefined) {
    const near = nearestFunction(name);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    return to.refuse(at, `${subsetRule(`function ${name}`)}${hint}`);
  }
  const [least, most] = sqlFunction.arguments;
  if (operands.length < least || operands.length > most) {
    const expected = least === most ? String(least) : `${least} to ${most}`;
    to.refuse(
      at,
      `${name} takes ${expected} arguments, not ${operands.length}: ${sqlFunction.signature}`,
    );
  }
  for (const [place, greatest] of Object.entries(sqlFunction.literalMax ?? {})) {
    const operand = operands[Number(place)];
    if (operand === undefined) continue;
    const value = operand.kind === 'number' ? Number(operand.digits) : NaN;
    if (Number.isInteger(value) && value <= greatest) continue;
    to.refuse(at, `argument ${Number(place) + 1} of ${name} must be a number up to ${greatest}`);
  }
  return sqlFunction;
}

const DIRECTIONS: ReadonlyMap<string, OrderTerm['direction']> = new Map([
  ['ORDER_DEFAULT', ''],
  ['ASCENDING', 'ASC'],
  ['DESCENDING', 'DESC'],
]);
const NULLS: ReadonlyMap<string, OrderTerm['nulls']> = new Map([
  ['ORDER_DEFAULT', ''],
  ['NULLS FIRST', 'NULLS FIRST'],
  ['NULLS LAST', 'NULLS LAST'],
]);

/** Restores `list(x ORDER BY x)`, parsed as `list_sort(list(x), …)`; undefined for other calls. */
export function orderedList(name: string, operands: readonly Expression[]): Expression | undefined {
  const [list, order, last] = operands;
  if (name !== 'list_sort' || list?.kind !== 'call' || list.function.name !== 'list')
    return undefined;
  const [expression] = list.operands;
  if (order?.kind !== 'text' || last?.kind !== 'text' || expression === undefined) return undefined;
  const [direction, nulls] = [DIRECTIONS.get(order.value), NULLS.get(last.value)];
  if (direction === undefined || nulls === undefined) return undefined;
  return { ...list, order: [{ expression, direction, nulls }] };
}

export function lowerOrders(nodes: unknown, to: Lowering): readonly OrderTerm[] {
  return listOf(nodes).map((node) => {
    const fields = take(node, ['null_order', 'expression'], 'ORDER BY');
    const direction = oneOf(fields['type'], DIRECTIONS, 'an order');
    const nulls = oneOf(fields['null_order'], NULLS, 'an order of NULLs');
    return { expression: orderedBy(fields['expression'], to), direction, nulls };
  });
}

function orderedBy(node: unknown, to: Lowering): OrderTerm['expression'] {
  const fields = fieldsOf(node);
  if (fields['class'] !== 'STAR') return to.named(to.expression(node), to.at(fields));
  // ORDER BY ALL: a star with `columns` and without an expression.
  take({ ...fields, columns: false }, [], 'ORDER BY ALL');
  return 'all';
}
