// Renders values in memory as json, lines of json, csv or psv, with the attributes that `filter` names.
import type { Body, BodyFormat } from '../../store/duckdb/protocol.ts';
import { refuse } from './parameters.ts';

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The rows of a value that has them in a member, as `chart/dynamic` does. */
export const findNestedRows = (value: unknown): readonly unknown[] | undefined =>
  isMembers(value) && Array.isArray(value['data'])
    ? (value['data'] as readonly unknown[])
    : undefined;

/** Selects the attributes that a filter names, in their original order. */
export function filterAttributes(value: unknown, names: readonly string[] | undefined): unknown {
  if (names === undefined || typeof value !== 'object' || value === null) return value;
  const selectedNames = new Set(names);
  const pick = (item: unknown): unknown =>
    isMembers(item)
      ? Object.fromEntries(Object.entries(item).filter(([name]) => selectedNames.has(name)))
      : item;
  if (Array.isArray(value)) return value.map(pick);
  const rows = findNestedRows(value);
  return rows === undefined ? pick(value) : { ...value, data: rows.map(pick) };
}

/** @throws Failure InvalidParameter for a binary format, which needs records of a dataset. */
export function renderBody(value: unknown, objects: number, format: BodyFormat): Body {
  return { objects, bytes: Buffer.from(renderText(value, format)) };
}

/** @throws Failure InvalidParameter for a format that a computed answer does not have. */
export function refuseBinary(format: BodyFormat): void {
  if (format === 'arrow' || format === 'parquet')
    refuse('format', 'must be json, jsonl, csv or psv: the answer is computed');
}

/** @throws Failure InvalidParameter for a binary format. */
export function renderText(value: unknown, format: BodyFormat): string {
  if (format === 'json') return JSON.stringify(value ?? null);
  refuseBinary(format);
  const rows = toRows(value);
  if (format === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const escaped = format === 'csvEscaped' || format === 'psvEscaped';
  return renderSeparated(rows, format.startsWith('psv') ? '|' : ',', escaped);
}

function toRows(value: unknown): readonly Members[] {
  const rows =
    findNestedRows(value) ?? (Array.isArray(value) ? (value as readonly unknown[]) : [value]);
  return rows.map((row) => (isMembers(row) ? row : { value: row ?? null }));
}

function renderSeparated(rows: readonly Members[], separator: string, escaped: boolean): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (names.length === 0) return '';
  const line = (cells: readonly string[]): string => `${cells.join(separator)}\n`;
  const cell = (value: unknown): string => renderCell(value, separator, escaped);
  return [
    line(names.map(cell)),
    ...rows.map((row) => line(names.map((name) => cell(row[name])))),
  ].join('');
}

/** Renders a cell by RFC 4180; `escaped` puts a quotation mark before texts that a spreadsheet would run. */
function renderCell(value: unknown, separator: string, escaped: boolean): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  const text = escaped && /^[=+\-@\t\r]/.test(plain) ? `'${plain}` : plain;
  const quoted = text.includes(separator) || /["\n\r]/.test(text);
  return quoted ? `"${text.replaceAll('"', '""')}"` : text;
}
