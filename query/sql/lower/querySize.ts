// Computes how large a query becomes when DuckDB binds it: DuckDB expands names of other columns of the
// list, and arguments of some functions, at each use, so that a short text can grow without bound. Its
// parser and binder ignore interrupts, so the size must be computed before.
import type { Expression, Item } from '../plan/selectPlan.ts';

/** Nodes of one expanded expression: at 20,000 binding takes about 0.5 s. */
export const SIZE_MAX = 20_000;
/** How often a macro of DuckDB repeats an argument at most; `round_even` is the worst. */
const COPIES = 5;

/** Sizes of the columns of a list, by their names in lower case. */
type Sizes = ReadonlyMap<string, number>;

/** Returns the size of the largest column of a select list, with earlier columns expanded. */
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

/** Approximate number of columns of a `COLUMNS`: each repeats the whole expression. */
const COLUMNS = 500;

/** Returns the size of an expression without sub-selects, which are counted on their own. */
export function sizeOf(expression: Expression, sizes: Sizes = new Map()): number {
  return sizeOfOne(expression, sizes) * (hasManyColumns(expression) ? COLUMNS : 1);
}

const hasManyColumns = (expression: Expression): boolean =>
  expression.kind === 'columns' || partsOf(expression).some(hasManyColumns);

function sizeOfOne(expression: Expression, sizes: Sizes): number {
  if (expression.kind === 'column') {
    const [name = '', ...rest] = expression.path;
    return (rest.length === 0 ? sizes.get(name.toLowerCase()) : undefined) ?? 1;
  }
  const inner = partsOf(expression).reduce((sum, part) => sum + sizeOfOne(part, sizes), 1);
  const isCopied = expression.kind === 'call' && expression.function.copies === true;
  return isCopied ? inner * COPIES : inner;
}

/** Returns the direct parts of an expression, without those of sub-selects. */
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
