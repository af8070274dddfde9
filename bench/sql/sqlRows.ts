// Hashes the rows of a result independently of their order, to compare two results.
import { createHash } from 'node:crypto';

export interface Rows {
  readonly count: number;
  readonly hash: string;
  /** The first row in sorted order, to show when two results differ. */
  readonly first: string;
}

/** Only certain digits are compared, because two threads add in a different order each time. */
const DIGITS = 6;
/** Smaller sums are treated as zero. */
const NOTHING = 1e-9;

/** @param body JSON lines */
export function readRows(body: Buffer): Rows {
  const lines = body.toString().split('\n').slice(0, -1);
  const rows = lines.map((line) => JSON.stringify(JSON.parse(line, roundDigits))).sort();
  const hash = createHash('sha256').update(rows.join('\n')).digest('hex');
  return { count: rows.length, hash, first: rows[0] ?? '' };
}

function roundDigits(_name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value;
  return Math.abs(value) < NOTHING ? 0 : Number(value.toPrecision(DIGITS));
}
