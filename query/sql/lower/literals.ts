// Reads constants and types of the tree: numbers as digits to which DuckDB gives the same type, and the
// types to which a value may be cast.
import { Failure } from '../../../store/base/failure.ts';
import type { Expression } from '../plan/selectPlan.ts';
import { subsetRule } from '../text/tokens.ts';
import { doubleFailure, fieldsOf, take, textOf } from '../text/tree.ts';

const INTEGERS: ReadonlySet<string> = new Set(['INTEGER', 'BIGINT', 'HUGEINT', 'UBIGINT']);

/** Reads the literal of a node VALUE_CONSTANT. */
export function literalOf(node: unknown): Expression {
  const { value } = take(node, ['value'], 'a constant');
  const constant = take(value, ['type', 'is_null', 'value'], 'a constant');
  const type = take(constant['type'], ['id', 'type_info'], 'a type');
  const id = textOf(type['id']);
  if (constant['is_null'] === true) return { kind: 'null' };
  if (id === 'VARCHAR') return { kind: 'text', value: textOf(constant['value']) };
  if (id === 'BOOLEAN') return { kind: 'truth', value: constant['value'] === true };
  if (INTEGERS.has(id)) return { kind: 'number', digits: String(integerOf(constant['value'])) };
  if (id === 'DOUBLE') return { kind: 'number', digits: doubleDigits(constant['value']) };
  if (id === 'DECIMAL') {
    const info = take(type['type_info'], ['width', 'scale'], 'a decimal');
    const [width, scale] = [Number(info['width']), Number(info['scale'])];
    return { kind: 'number', digits: decimalDigits(integerOf(constant['value']), width, scale) };
  }
  throw new Failure('InvalidParameter', `"sqlQuery": ${subsetRule(`a ${id} literal`)}`);
}

function integerOf(value: unknown): bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return BigInt(value);
  const { upper, lower } = fieldsOf(value);
  if (isWhole(upper) && isWhole(lower)) return (BigInt(upper) << 64n) + BigInt(lower);
  throw new Failure('InvalidParameter', '"sqlQuery" has a number that cannot be read');
}

const isWhole = (value: unknown): value is number | bigint =>
  typeof value === 'bigint' || Number.isInteger(value);

function doubleDigits(value: unknown): string {
  if (typeof value === 'number' && Number.isFinite(value)) return value.toExponential();
  if (typeof value === 'bigint') return Number(value).toExponential();
  throw doubleFailure();
}

/** `5` of DECIMAL(2,2) was written `.05`: with a zero before the point it would be one wider. */
function decimalDigits(value: bigint, width: number, scale: number): string {
  const sign = value < 0n ? '-' : '';
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale);
  if (scale === 0) return `${sign}${digits}.`;
  return `${sign}${width === scale && whole === '0' ? '' : whole}.${fraction}`;
}

const PLAIN_TYPES: ReadonlySet<string> = new Set([
  'BOOLEAN',
  'TINYINT',
  'SMALLINT',
  'INTEGER',
  'BIGINT',
  'HUGEINT',
  'UTINYINT',
  'USMALLINT',
  'UINTEGER',
  'UBIGINT',
  'FLOAT',
  'DOUBLE',
  'VARCHAR',
  'DATE',
  'TIME',
  'TIMESTAMP',
  'TIMESTAMP_NS',
  'INTERVAL',
  'TIMESTAMP WITH TIME ZONE',
]);

/** Reads a type of the allow-list as SQL. @throws Failure InvalidParameter. */
export function typeOf(node: unknown): string {
  const { id, type_info: info } = take(node, ['id', 'type_info'], 'a type');
  const name = textOf(id);
  if (PLAIN_TYPES.has(name) && info === null) return name;
  if (name === 'DECIMAL') {
    const { width, scale } = take(info, ['width', 'scale'], 'a decimal');
    return `DECIMAL(${Number(width)}, ${Number(scale)})`;
  }
  if (name === 'UNBOUND') {
    const unbound = textOf(take(info, ['name'], 'a type')['name']);
    if (unbound.toLowerCase() === 'json') return 'JSON';
    throw new Failure('InvalidParameter', `"sqlQuery": there is no type ${unbound}`);
  }
  throw new Failure('InvalidParameter', `"sqlQuery": ${subsetRule(`type ${name}`)}`);
}
