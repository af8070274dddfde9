// Parses the text of a split into shares before and after: `10:1`, `1-for-30`, `4.000000/1.000000`, `10.0`,
// `0.0333333`. Only rounded ratios are replaced by the nearest small fraction.

interface Split {
  /** Shares before. */
  readonly from: number;
  /** Shares after. */
  readonly to: number;
  /** The text is a decimal near this fraction, but not equal to it. */
  readonly rounded: boolean;
}

const PAIR = /^(\d{1,9}(?:\.\d{1,9})?)(?: ?[:/] ?|[ -]for[ -])(\d{1,9}(?:\.\d{1,9})?)$/i;
const DECIMAL = /^\d{1,9}(?:\.(\d{1,15}))?$/;

/** Largest number of shares that is tried for a decimal ratio. */
const SHARES_MAX = 100;
/** Shares of a fraction that is accepted although a simpler one is near. */
const USUAL_SHARES = 40;
/** Most shares after for each before of a stock dividend. */
const STOCK_DIVIDEND_MAX = 1.3;
/** Difference that binary rounding alone causes. */
const EXACT = 1e-12;
/** Decimal places from which a ratio may be rounded: 1.5 is a fraction itself. */
const ROUNDED_PLACES = 2;

/** `new:old`; undefined for text that is no split, and for a ratio of 0. */
export function parseSplit(text: string): Split | undefined {
  const plain = text.trim();
  const [, after, before] = PAIR.exec(plain) ?? [];
  if (after !== undefined && before !== undefined) {
    const [to, from] = [Number(after), Number(before)];
    return to > 0 && from > 0 ? { from, to, rounded: false } : undefined;
  }
  const [whole, places = ''] = DECIMAL.exec(plain) ?? [];
  const ratio = Number(whole ?? Number.NaN);
  return ratio > 0 ? ofRatio(ratio, places.length) : undefined;
}

function ofRatio(ratio: number, places: number): Split {
  const exact = fractionNear(ratio, EXACT);
  if (exact !== undefined && isUsual(exact)) return { ...exact, rounded: false };
  // A vendor rounds or truncates: the fraction is less than one unit of the last place away.
  const near = places < ROUNDED_PLACES ? undefined : fractionNear(ratio, 10 ** -places);
  return near === undefined ? { from: 1, to: ratio, rounded: false } : { ...near, rounded: true };
}

/** 0.33 and 1.33 are truncated thirds; 1.03 is a stock dividend of 3 %. */
function isUsual({ from, to }: Pick<Split, 'from' | 'to'>): boolean {
  if (to === 1 || from <= USUAL_SHARES) return true;
  return to > from && to < from * STOCK_DIVIDEND_MAX;
}

/** The fraction of the smallest denominator within a distance; undefined where there is none. */
function fractionNear(
  ratio: number,
  distance: number,
): { readonly from: number; readonly to: number } | undefined {
  for (let from = 1; from <= SHARES_MAX; from += 1) {
    const to = Math.round(ratio * from);
    if (to > 0 && Math.abs(to / from - ratio) < distance * Math.max(1, ratio)) return { from, to };
  }
  return undefined;
}

/** Vendors write 0, or 1, for a day without a split. */
export const isNoSplit = (text: string): boolean => {
  const plain = text.trim();
  if (DECIMAL.test(plain)) return Number(plain) === 0 || Number(plain) === 1;
  const split = parseSplit(plain);
  return split !== undefined && split.from === split.to;
};
