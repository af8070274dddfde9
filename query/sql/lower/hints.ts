// Extracts what a WHERE requires of single columns, so that files without a matching record are not opened.
// Uses only comparisons that are false for a missing value: then the side of an outer join on which the
// table is does not matter.
import type { Expression, Source, Hint } from '../plan/selectPlan.ts';

const FLIPPED: Readonly<Record<string, string>> = { '<': '>', '>': '<', '<=': '>=', '>=': '<=' };
const OPERATORS: Readonly<Record<string, Hint['operator']>> = {
  '=': '=',
  '>': '>=',
  '>=': '>=',
  '<': '<=',
  '<=': '<=',
};

type Comparison = Omit<Hint, 'table' | 'column'> & { readonly path: readonly string[] };

export function hintsOf(from: Source, where: Expression | undefined): readonly Hint[] {
  if (where === undefined) return [];
  const tables = tablesOf(from);
  return conjunctsOf(where).flatMap(({ path, ...comparison }) => {
    const [column = '', qualifier] = [...path].reverse();
    return tables
      .filter(({ alias }) => qualifier === undefined || isSame(alias, qualifier))
      .map(({ index }) => ({ table: index, column, ...comparison }));
  });
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/**
 * Excludes the right side of an ASOF join, where without a later record an earlier one would match, and of
 * a SEMI or ANTI join, whose columns a WHERE does not see.
 */
function tablesOf(from: Source): readonly { readonly index: number; readonly alias: string }[] {
  if (from.kind === 'table') return from.columns.length === 0 ? [from] : [];
  if (from.kind !== 'join') return [];
  const isSeen = !from.asOf && from.how !== 'SEMI' && from.how !== 'ANTI';
  return [...tablesOf(from.left), ...(isSeen ? tablesOf(from.right) : [])];
}

function conjunctsOf(where: Expression): readonly Comparison[] {
  if (where.kind === 'logic' && where.operator === 'AND')
    return where.operands.flatMap(conjunctsOf);
  if (where.kind === 'compare') {
    const { left, operator, right } = where;
    return [
      ...comparison(left, operator, [right]),
      ...comparison(right, FLIPPED[operator] ?? operator, [left]),
    ];
  }
  if (where.kind === 'between') {
    const { lower, operand, upper } = where;
    return [...comparison(operand, '>=', [lower]), ...comparison(operand, '<=', [upper])];
  }
  if (where.kind === 'in' && !where.negated) return comparison(where.operand, '=', where.list);
  return [];
}

function comparison(
  side: Expression,
  operator: string,
  others: readonly Expression[],
): readonly Comparison[] {
  const hintOperator = OPERATORS[operator];
  const values = others.map(literalOf).filter((value) => value !== undefined);
  if (side.kind !== 'column' || hintOperator === undefined || values.length < others.length)
    return [];
  const numeric = others.some(({ kind }) => kind === 'number');
  return [{ path: side.path, operator: hintOperator, values, numeric }];
}

function literalOf(expression: Expression): string | undefined {
  if (expression.kind === 'text') return expression.value;
  if (expression.kind === 'number') return expression.digits;
  const isDated = expression.kind === 'cast' && /^(DATE|TIMESTAMP)$/.test(expression.type);
  return isDated ? literalOf(expression.operand) : undefined;
}
