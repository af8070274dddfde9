// Handles decimals as texts: JavaScript's numbers represent only 15 digits exactly.

export interface DecimalShape {
  /** Total digits. */
  readonly precision: number;
  /** Fraction digits. */
  readonly scale: number;
}

const SHAPE = /^decimal\((\d{1,2}),(\d{1,2})\)$/;

/** Parses a decimal type, in DuckLake's or DuckDB's form; undefined for another type. */
export function parseDecimal(type: string): DecimalShape | undefined {
  const [, precision, scale] = SHAPE.exec(type.toLowerCase()) ?? [];
  return precision === undefined
    ? undefined
    : { precision: Number(precision), scale: Number(scale) };
}

/** Plain decimal text, with more digits than any decimal type has. */
const PLAIN = /^([+-]?)(\d{1,60})(?:\.(\d{0,60}))?$/;

export const isPlainDecimal = (text: string): boolean => PLAIN.test(text);

/** Formats a decimal as DuckDB does, with all digits of the scale; undefined for a text that does not fit. */
export function formatDecimal(
  text: string,
  { precision, scale }: DecimalShape,
): string | undefined {
  const [, sign = '', digits, fraction = ''] = PLAIN.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const whole = BigInt(digits);
  const scaled = fraction.slice(0, scale).padEnd(scale, '0');
  const isRounded = /[1-9]/.test(fraction.slice(scale));
  if (isRounded || String(whole).length > Math.max(precision - scale, 1)) return undefined;
  if (precision === scale && whole !== 0n) return undefined;
  const isZero = whole === 0n && !/[1-9]/.test(scaled);
  return `${sign === '-' && !isZero ? '-' : ''}${whole}${scale === 0 ? '' : `.${scaled}`}`;
}

/** Compares two plain decimals of any scales: -1, 0 or 1. */
export function compareDecimals(a: string, b: string): number {
  const scale = Math.max(countFractionDigits(a), countFractionDigits(b));
  const [left, right] = [unscaled(a, scale), unscaled(b, scale)];
  return left < right ? -1 : Number(left > right);
}

const countFractionDigits = (text: string): number =>
  text.includes('.') ? text.length - text.indexOf('.') - 1 : 0;

const unscaled = (text: string, scale: number): bigint =>
  BigInt(`${text.replace('.', '')}${'0'.repeat(scale - countFractionDigits(text))}`);
