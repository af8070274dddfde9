// Normalizes symbols, so that a security has one spelling in all inputs: upper case, class shares as BRK.B,
// preferred shares as BAC-PL. Other spellings are rewritten where they are unambiguous, as is `BRK-B`, which
// one vendor in two writes for a class share.

/** Rule for a whole trimmed text, valid in JavaScript's and DuckDB's regular expressions. */
interface Spelling {
  readonly pattern: RegExp;
  /** Replacement, with `$1` for the first group of the pattern. */
  readonly becomes: string;
}

/** Rules for texts in their original case. */
export const CASED_SPELLINGS: readonly Spelling[] = [
  { pattern: /^([A-Z]{1,5})p([A-Z])$/, becomes: '$1-P$2' },
];

/** Rules for upper-case texts; no two match the same text. */
export const SPELLINGS: readonly Spelling[] = [
  { pattern: /^([A-Z]{1,5})(?: +|\/)([A-Z])$/, becomes: '$1.$2' },
  { pattern: /^([A-Z]{1,5})-([AB])$/, becomes: '$1.$2' },
  { pattern: /^([A-Z]{1,5})(?: +|[./])PR[ .]?([A-Z]?)$/, becomes: '$1-P$2' },
  // X-PR is already series R.
  { pattern: /^([A-Z]{1,5})-PR[ .]?([A-Z])$/, becomes: '$1-P$2' },
  { pattern: /^([A-Z]{1,5})[$]([A-Z]?)$/, becomes: '$1-P$2' },
];

/** A text without any of these markers is only converted to upper case. */
export const VARIANT_MARKERS: readonly string[] = [' ', '/', '-', '$', '.PR', '.Pr', 'p'];

const applyRules = (text: string, rules: readonly Spelling[]): string =>
  rules.reduce((rewritten, { becomes, pattern }) => rewritten.replace(pattern, becomes), text);

/** Normalizes a symbol as market inputs store it; DuckDB's `upper` is equivalent only for ASCII. */
export const normalizeSymbol = (text: string): string =>
  applyRules(applyRules(text.trim(), CASED_SPELLINGS).toUpperCase(), SPELLINGS);

/** Upper-case texts that no pattern above matches. */
const PLAIN = /^[A-Z0-9]+$/;

/** Lists the possible stored spellings of a requested symbol, the likeliest first. */
export function listSymbolSpellings(text: string): readonly string[] {
  const symbol = text.trim().toUpperCase();
  // Most symbols are plain and need no rewriting; the patterns cost 2 µs.
  if (PLAIN.test(symbol)) return [symbol];
  const preferred = /^([A-Z]{1,5})-(P?)([A-Z])$/.exec(symbol);
  const [, root = '', mark, series = ''] = preferred ?? [];
  const other = mark === 'P' ? `${root}-${series}` : `${root}-P${series}`;
  return [...new Set([normalizeSymbol(symbol), symbol, ...(preferred === null ? [] : [other])])];
}
