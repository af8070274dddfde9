// Rows of an answer as something that two answers can be compared by, whatever their order.
import { createHash } from 'node:crypto';

export interface Rows {
  readonly count: number;
  readonly hash: string;
  /** The first of them, in their order, to look at where two answers differ. */
  readonly first: string;
}

/** Two threads add in another order each time: the digits that are certain are compared. */
const DIGITS = 6;
/** A sum that should be nothing. */
const NOTHING = 1e-9;

/** @param body JSON lines */
export function rowsIn(body: Buffer): Rows {
  const lines = body.toString().split('\n').slice(0, -1);
  const rows = lines.map((line) => JSON.stringify(JSON.parse(line, certain))).sort();
  const hash = createHash('sha256').update(rows.join('\n')).digest('hex');
  return { count: rows.length, hash, first: rows[0] ?? '' };
}

function certain(_name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isInteger(value)) return value;
  return Math.abs(value) < NOTHING ? 0 : Number(value.toPrecision(DIGITS));
}
