// Parses and evaluates formulas of concepts and members, as used in the table of concepts.

interface Term {
  readonly sign: 1 | -1;
  readonly name: string;
  readonly kind: 'concept' | 'member';
  /** Counts as zero where it is missing. */
  readonly mayMiss: boolean;
}

export type Formula = readonly Term[];

const TERM = /([+-]?)\s*([A-Za-z]+)(\??)\s*/y;

/** `Assets - Liabilities - minorityInterest?`. */
export function parseFormula(text: string): Formula {
  const terms: Term[] = [];
  TERM.lastIndex = 0;
  while (TERM.lastIndex < text.length) {
    const [, sign, name = '', mark] = TERM.exec(text) ?? [];
    if (name === '') throw new Error(`no formula: ${text}`);
    const kind = /^[A-Z]/.test(name) ? 'concept' : 'member';
    terms.push({ sign: sign === '-' ? -1 : 1, name, kind, mayMiss: mark === '?' });
  }
  return terms;
}

/** Undefined where a required term is missing. */
export function evaluateFormula(
  formula: Formula,
  valueOf: (term: Term) => number | undefined,
): number | undefined {
  let sum = 0;
  for (const term of formula) {
    const value = valueOf(term);
    if (value === undefined && !term.mayMiss) return undefined;
    sum += term.sign * (value ?? 0);
  }
  return sum;
}

/** A sum without binary rounding errors; never -0. */
export const plainSum = (value: number): number => Number(value.toPrecision(15)) + 0;
