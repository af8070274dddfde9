// Renders a pushed record as DuckDB renders it once it is in a file (store/duckdb/render.ts). The law
// "cache on = cache off" tests that both agree.
import {
  type ColumnType,
  CREATED_COLUMN,
  isExactNumber,
  UPDATED_COLUMN,
} from '../../store/lake/versions/columns.ts';
import type { Table } from '../../store/lake/versions/lakeRead.ts';
import { buildDocument, type PendingRow } from '../../store/lake/pushes/pendingRows.ts';
import { numberOfDay } from '../time/days.ts';
import type { Member } from '../plan/seriesMembers.ts';

type Document = Readonly<Record<string, unknown>>;

/** JSON text of a record's members; undefined when one of them is not plain. */
export function recordText(
  row: PendingRow,
  members: readonly Member[],
  table: Table,
): string | undefined {
  const document = buildDocument(row);
  const types = new Map(table.columns.map(({ name, type }) => [name, type]));
  const parts: string[] = [];
  for (const member of members) {
    const value = memberText(member, document, types);
    if (value === undefined) return undefined;
    parts.push(`${JSON.stringify(member.name)}:${value}`);
  }
  return `{${parts.join(',')}}`;
}

function memberText(
  member: Member,
  document: Document,
  types: ReadonlyMap<string, ColumnType>,
): string | undefined {
  if (member.kind === 'object') return undefined;
  if (member.kind === 'text') return JSON.stringify(member.text);
  const value = Object.hasOwn(document, member.column) ? document[member.column] : null;
  if (value === null) return 'null';
  const type = types.get(member.column);
  if (type === 'json') return undefined;
  if (member.kind === 'epoch') return epochText(value, type);
  if (type === 'timestamp') return JSON.stringify(toIso(String(value)));
  if (type === 'timestamp_ns') return JSON.stringify(toIso(trimZeros(String(value))));
  if (type !== undefined && isExactNumber(type)) return decimalText(String(value));
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}

/** Shortens the nine digits of a pushed instant: trailing zeros are removed three at a time. */
const trimZeros = (text: string): string => text.replace(/000(?:000)?$/, '');

/** Digits that a double represents: a longer number is rendered as text, so that no reader rounds it. */
const DIGITS_OF_DOUBLE = 15;

function decimalText(text: string): string {
  const digits = text.replace(/[-.]/g, '').replace(/^0+/, '');
  return digits.length > DIGITS_OF_DOUBLE ? JSON.stringify(text) : text;
}

/** `2026-01-31 12:00:00.000` as ISO 8601 in UTC. */
const toIso = (text: string): string => `${text.replace(' ', 'T')}Z`;

function epochText(value: unknown, type: string | undefined): string | undefined {
  const text = String(value);
  const ms = Date.parse(type === 'date' ? `${text}T00:00:00Z` : toIso(text));
  return Number.isNaN(ms) ? undefined : String(ms);
}

/** Characters of `2026-01-31 12:00:00.000` and of the same with microseconds. */
const MILLISECONDS_END = 23;
const MICROSECONDS_END = 26;

/** Returns the sort value of a record: days or microseconds since 1970; undefined without a date. */
export function sortValueOf(row: PendingRow, name: string, type: string): number | undefined {
  if (name === CREATED_COLUMN) return row.timeMs * 1000;
  const value = name === UPDATED_COLUMN ? undefined : row.document[name];
  if (typeof value !== 'string') return undefined;
  if (type === 'date') return numberOfDay(value);
  return Date.parse(toIso(value)) * 1000 + Number(value.slice(MILLISECONDS_END, MICROSECONDS_END));
}
