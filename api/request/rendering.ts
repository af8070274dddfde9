// Renders values in memory as json, lines of json, csv or psv, with the attributes that `filter` names.
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Body, BodyFormat } from '../../store/duckdb/protocol.ts';
import { refuse } from './parameters.ts';

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `chart/dynamic` holds its rows in a member. */
export const rowsWithin = (value: unknown): readonly unknown[] | undefined =>
  isMembers(value) && Array.isArray(value['data'])
    ? (value['data'] as readonly unknown[])
    : undefined;

/** With the attributes that a filter names, as they stand. */
export function filtered(value: unknown, names: readonly string[] | undefined): unknown {
  if (names === undefined || typeof value !== 'object' || value === null) return value;
  const wanted = new Set(names);
  const pick = (item: unknown): unknown =>
    isMembers(item)
      ? Object.fromEntries(Object.entries(item).filter(([name]) => wanted.has(name)))
      : item;
  if (Array.isArray(value)) return value.map(pick);
  const within = rowsWithin(value);
  return within === undefined ? pick(value) : { ...value, data: within.map(pick) };
}

/** @throws Failure InvalidParameter for a format of files, which hold records of a dataset. */
export function bodyOf(value: unknown, objects: number, format: BodyFormat): Body {
  return { objects, bytes: Buffer.from(textOf(value, format)) };
}

/** Rows that are made text in one turn of the loop: 5 ms. */
const TURN_ROWS = 2_000;

/** The same for answers that may be long: others have their turns between what is computed and the text. */
export async function bodyInTurns(
  value: unknown,
  objects: number,
  format: BodyFormat,
): Promise<Body> {
  if (!Array.isArray(value) || value.length <= TURN_ROWS) return bodyOf(value, objects, format);
  await othersTurn();
  if (format !== 'json') return bodyOf(value, objects, format);
  const rows = value as readonly unknown[];
  const pieces: string[] = [];
  for (let from = 0; from < rows.length; from += TURN_ROWS) {
    pieces.push(JSON.stringify(rows.slice(from, from + TURN_ROWS)).slice(1, -1));
    await othersTurn();
  }
  return { objects, bytes: Buffer.from(`[${pieces.join(',')}]`) };
}

/** @throws Failure InvalidParameter for a format of files. */
export function textOf(value: unknown, format: BodyFormat): string {
  if (format === 'json') return JSON.stringify(value ?? null);
  if (format === 'arrow' || format === 'parquet') {
    return refuse('format', 'must be json, jsonl, csv or psv: the answer is computed');
  }
  const rows = rowsOf(value);
  if (format === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const escaped = format === 'csvEscaped' || format === 'psvEscaped';
  return separated(rows, format.startsWith('psv') ? '|' : ',', escaped);
}

function rowsOf(value: unknown): readonly Members[] {
  const rows =
    rowsWithin(value) ?? (Array.isArray(value) ? (value as readonly unknown[]) : [value]);
  return rows.map((row) => (isMembers(row) ? row : { value: row ?? null }));
}

function separated(rows: readonly Members[], separator: string, escaped: boolean): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (names.length === 0) return '';
  const line = (cells: readonly string[]): string => `${cells.join(separator)}\n`;
  const cell = (value: unknown): string => cellOf(value, separator, escaped);
  return [
    line(names.map(cell)),
    ...rows.map((row) => line(names.map((name) => cell(row[name])))),
  ].join('');
}

/** RFC 4180; what a spreadsheet would run as a formula gets a quotation mark before it when asked. */
function cellOf(value: unknown, separator: string, escaped: boolean): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  const text = escaped && /^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain;
  const quoted = text.includes(separator) || /["\n\r]/.test(text);
  return quoted ? `"${text.replaceAll('"', '""')}"` : text;
}
