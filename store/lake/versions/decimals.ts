// Decimals as texts: JavaScript's numbers hold 15 digits of them for sure.

export interface DecimalShape {
  /** All digits. */
  readonly precision: number;
  /** Those of them that are behind the point. */
  readonly scale: number;
}

const SHAPE = /^decimal\((\d{1,2}),(\d{1,2})\)$/;

/** The shape that a type has, in DuckLake's word or DuckDB's; undefined for another type. */
export function parseDecimal(type: string): DecimalShape | undefined {
  const [, precision, scale] = SHAPE.exec(type.toLowerCase()) ?? [];
  return precision === undefined
    ? undefined
    : { precision: Number(precision), scale: Number(scale) };
}

/** Plain digits, more than any decimal has. */
const PLAIN = /^([+-]?)(\d{1,60})(?:\.(\d{0,60}))?$/;

export const isPlainDecimal = (text: string): boolean => PLAIN.test(text);

/** As DuckDB spells it, with all digits of the scale; undefined for what is no such decimal. */
export function spellDecimal(text: string, { precision, scale }: DecimalShape): string | undefined {
  const [, sign = '', digits, given = ''] = PLAIN.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const whole = BigInt(digits);
  const behind = given.slice(0, scale).padEnd(scale, '0');
  const isRounded = /[1-9]/.test(given.slice(scale));
  if (isRounded || String(whole).length > Math.max(precision - scale, 1)) return undefined;
  if (precision === scale && whole !== 0n) return undefined;
  const isZero = whole === 0n && !/[1-9]/.test(behind);
  return `${sign === '-' && !isZero ? '-' : ''}${whole}${scale === 0 ? '' : `.${behind}`}`;
}

/** Order of two plain decimals, whatever their scales: -1, 0 or 1. */
export function compareDecimals(a: string, b: string): number {
  const scale = Math.max(digitsBehind(a), digitsBehind(b));
  const [one, other] = [unscaled(a, scale), unscaled(b, scale)];
  return one < other ? -1 : Number(one > other);
}

const digitsBehind = (text: string): number =>
  text.includes('.') ? text.length - text.indexOf('.') - 1 : 0;

const unscaled = (text: string, scale: number): bigint =>
  BigInt(`${text.replace('.', '')}${'0'.repeat(scale - digitsBehind(text))}`);
