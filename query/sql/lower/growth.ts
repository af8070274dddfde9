// How large a query becomes when DuckDB binds it: names of other columns of the list, and arguments
// of some functions, are put in as often as they are named, so that a short text can grow without
// end. Its parser and binder do not hear an interrupt; so the size is known before.
import type { Expression, Item } from '../plan/selectPlan.ts';

/** Nodes of one expression after all was put in: at 20,000 binding takes about 0.5 s. */
export const SIZE_MAX = 20_000;
/** How often the macros of DuckDB that repeat an argument do so; `round_even` is the worst. */
const COPIES = 5;

/** Sizes of the columns of a list that others may name, by their names in lower case. */
type Sizes = ReadonlyMap<string, number>;

/** The size of the largest column of a select list, each with the columns before it put in. */
export function sizeOfItems(items: readonly Item[]): number {
  const sizes = new Map<string, number>();
  let largest = 0;
  for (const item of items) {
    if (item.kind === 'star') {
      for (const { expression, name } of item.replace) {
        const size = sizeOf(expression, sizes);
        largest = Math.max(largest, size);
        sizes.set(name.toLowerCase(), size);
      }
      continue;
    }
    const size = sizeOf(item.expression, sizes);
    largest = Math.max(largest, size);
    if (item.alias !== undefined) sizes.set(item.alias.toLowerCase(), size);
  }
  return largest;
}

/** How many columns `COLUMNS` stands for, about: each has the whole expression. */
const COLUMNS = 500;

/** Sub-selects have columns of their own and are counted there. */
export function sizeOf(expression: Expression, sizes: Sizes = new Map()): number {
  return sizeOfOne(expression, sizes) * (standsForMany(expression) ? COLUMNS : 1);
}

const standsForMany = (expression: Expression): boolean =>
  expression.kind === 'columns' || partsOf(expression).some(standsForMany);

function sizeOfOne(expression: Expression, sizes: Sizes): number {
  if (expression.kind === 'column') {
    const [name = '', ...rest] = expression.path;
    return (rest.length === 0 ? sizes.get(name.toLowerCase()) : undefined) ?? 1;
  }
  const inner = partsOf(expression).reduce((sum, part) => sum + sizeOfOne(part, sizes), 1);
  const isCopied = expression.kind === 'call' && expression.function.copies === true;
  return isCopied ? inner * COPIES : inner;
}

/** The expressions that an expression is made of, without those of sub-selects. */
export function partsOf(expression: Expression): readonly Expression[] {
  return Object.values(expression).flatMap(expressionsIn);
}

function expressionsIn(value: unknown): readonly Expression[] {
  if (Array.isArray(value)) return value.flatMap(expressionsIn);
  if (typeof value !== 'object' || value === null) return [];
  const { kind, query } = value as { readonly kind?: unknown; readonly query?: unknown };
  if (kind === 'select' || kind === 'set') return [];
  // A scalar sub-select has the kind of a scalar function, but a query.
  if (query !== undefined) return [value as Expression];
  // Orders, arms of CASE and bounds of frames have no kind, but expressions.
  if (kind === undefined) return Object.values(value).flatMap(expressionsIn);
  return KINDS_OF_NO_EXPRESSION.has(kind) ? [] : [value as Expression];
}

/** A function of the allow-list has a kind too. */
const KINDS_OF_NO_EXPRESSION: ReadonlySet<unknown> = new Set(['scalar', 'aggregate']);
