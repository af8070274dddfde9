// How symbols are kept, so that a security has one spelling in all inputs: upper case, class shares as BRK.B,
// preferred shares as BAC-PL. Other spellings of them are rewritten where they can mean nothing else, and
// `BRK-B`, which one vendor in two writes for a class share.

/** A whole text without blanks around it. In both JavaScript's and DuckDB's regular expressions. */
interface Spelling {
  readonly pattern: RegExp;
  /** With `$1` for what the pattern's first bracket holds. */
  readonly becomes: string;
}

/** Of texts as they came. */
export const CASED_SPELLINGS: readonly Spelling[] = [
  { pattern: /^([A-Z]{1,5})p([A-Z])$/, becomes: '$1-P$2' },
];

/** Of texts in upper case; no two of them match the same text. */
export const SPELLINGS: readonly Spelling[] = [
  { pattern: /^([A-Z]{1,5})(?: +|\/)([A-Z])$/, becomes: '$1.$2' },
  { pattern: /^([A-Z]{1,5})-([AB])$/, becomes: '$1.$2' },
  { pattern: /^([A-Z]{1,5})(?: +|[./])PR[ .]?([A-Z]?)$/, becomes: '$1-P$2' },
  // X-PR is series R already.
  { pattern: /^([A-Z]{1,5})-PR[ .]?([A-Z])$/, becomes: '$1-P$2' },
  { pattern: /^([A-Z]{1,5})[$]([A-Z]?)$/, becomes: '$1-P$2' },
];

/** A text without one of them is only written in upper case. */
export const SIGNS_OF_OTHERS: readonly string[] = [' ', '/', '-', '$', '.PR', '.Pr', 'p'];

const rewritten = (text: string, rules: readonly Spelling[]): string =>
  rules.reduce((told, { becomes, pattern }) => told.replace(pattern, becomes), text);

/** A symbol as inputs of the market keep it; only of ASCII does DuckDB's `upper` say the same. */
export const keptSymbol = (text: string): string =>
  rewritten(rewritten(text.trim(), CASED_SPELLINGS).toUpperCase(), SPELLINGS);

/** In upper case, none of the patterns above match it. */
const PLAIN = /^[A-Z0-9]+$/;

/** How a symbol may be kept that somebody asks for, the likeliest first. */
export function symbolSpellings(text: string): readonly string[] {
  const asked = text.trim().toUpperCase();
  // Most are: there is nothing to rewrite, and the patterns cost 2 µs.
  if (PLAIN.test(asked)) return [asked];
  const preferred = /^([A-Z]{1,5})-(P?)([A-Z])$/.exec(asked);
  const [, root = '', mark, series = ''] = preferred ?? [];
  const other = mark === 'P' ? `${root}-${series}` : `${root}-P${series}`;
  return [...new Set([keptSymbol(asked), asked, ...(preferred === null ? [] : [other])])];
}
