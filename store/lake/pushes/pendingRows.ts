// Represents pushed records as rows, and merges several rows of one index value.
import { isoTime } from '../../base/clock.ts';
import { CREATED_COLUMN, ROW_COLUMN, UPDATED_COLUMN } from '../versions/columns.ts';

/** A record to push, validated and in the format of its columns. */
export interface Push {
  /** JSON text of the values of the unique index. */
  readonly index: string;
  readonly replaces: boolean;
  readonly document: Readonly<Record<string, unknown>>;
}

/** A pending record, or the merged one of an index value. */
export interface PendingRow extends Push {
  readonly sequence: number;
  readonly timeMs: number;
}

let cachedTime = { ms: Number.NaN, text: '' };

/** Formats a DuckDB timestamp, `2026-01-31 12:00:00.000`. Rows of one commit share one time. */
function timeText(ms: number): string {
  if (cachedTime.ms !== ms) cachedTime = { ms, text: isoTime(ms).replace('T', ' ').slice(0, -1) };
  return cachedTime.text;
}

/** Adds the write time to a pending record, also as its creation time if it has one. */
export function buildDocument({ document, timeMs }: PendingRow): Readonly<Record<string, unknown>> {
  const time = timeText(timeMs);
  const created = Object.hasOwn(document, CREATED_COLUMN) ? { [CREATED_COLUMN]: time } : {};
  return { ...document, ...created, [UPDATED_COLUMN]: time };
}

/** Returns the next record number after some pushes; 1 without numbers. */
export function nextRowNumber(rows: readonly PendingRow[]): number {
  const row = rows.at(-1)?.document[ROW_COLUMN];
  return typeof row === 'number' ? row + 1 : 1;
}

/** One row for each index value, in order of arrival. */
export type MergedRows = Map<string, PendingRow>;

/** Returns the first value of the unique index: the key, where a dataset has one. */
export const parseKey = ({ index }: PendingRow): string =>
  String((JSON.parse(index) as unknown[])[0]);

export function addByKey(nets: Map<string, MergedRows>, row: PendingRow): void {
  const key = parseKey(row);
  const net = nets.get(key) ?? new Map<string, PendingRow>();
  nets.set(key, net);
  addTo(net, row);
}

/** Adds a row: a replacing row hides earlier ones; another row is hidden by them. */
function addTo(net: MergedRows, row: PendingRow): void {
  if (row.replaces || !net.has(row.index)) net.set(row.index, row);
}

/** Merges rows to one for each index value: the last replacing row, or else the first. */
export function mergeRows(rows: readonly PendingRow[]): readonly PendingRow[] {
  const net: MergedRows = new Map();
  for (const row of rows) addTo(net, row);
  return [...net.values()];
}

/** Merges rows by key, in any order. */
export function mergeByKey(rows: readonly PendingRow[]): Map<string, MergedRows> {
  const nets = new Map<string, MergedRows>();
  for (const row of rows.toSorted((a, b) => a.sequence - b.sequence)) addByKey(nets, row);
  return nets;
}

export function selectKeys(
  nets: ReadonlyMap<string, MergedRows>,
  keys?: readonly string[],
): readonly PendingRow[] {
  const selected = keys === undefined ? nets.values() : keys.map((key) => nets.get(key));
  return [...selected].flatMap((net) => (net === undefined ? [] : [...net.values()]));
}
