// A pushed record as a row: what it says, when it came, and what several of one index value come to.
import { isoTime } from '../../base/clock.ts';
import { CREATED_COLUMN, ROW_COLUMN, UPDATED_COLUMN } from '../versions/columns.ts';

/** A record to push, checked and spelled as its columns are. */
export interface Push {
  /** JSON text of the values of the unique index. */
  readonly index: string;
  readonly replaces: boolean;
  readonly document: Readonly<Record<string, unknown>>;
}

/** A pending record, or what several of one index value come to. */
export interface PendingRow extends Push {
  readonly sequence: number;
  readonly timeMs: number;
}

let spelled = { ms: Number.NaN, text: '' };

/** `2026-01-31 12:00:00.000`, as DuckDB spells a timestamp. Rows of one commit have one time. */
function timeText(ms: number): string {
  if (spelled.ms !== ms) spelled = { ms, text: isoTime(ms).replace('T', ' ').slice(0, -1) };
  return spelled.text;
}

/** The record of a pending row with the time of its writing; that is its creation too, where it has one. */
export function documentOf({ document, timeMs }: PendingRow): Readonly<Record<string, unknown>> {
  const time = timeText(timeMs);
  const created = Object.hasOwn(document, CREATED_COLUMN) ? { [CREATED_COLUMN]: time } : {};
  return { ...document, ...created, [UPDATED_COLUMN]: time };
}

/** One more than the number of the last record of some pushes; 1 where they have none. */
export function rowAfter(rows: readonly PendingRow[]): number {
  const row = rows.at(-1)?.document[ROW_COLUMN];
  return typeof row === 'number' ? row + 1 : 1;
}

/** One row for each index value, in the order that these came. */
export type Net = Map<string, PendingRow>;

/** First value of the unique index: the key, where a dataset has one. */
export const keyOf = ({ index }: PendingRow): string => String((JSON.parse(index) as unknown[])[0]);

export function addByKey(nets: Map<string, Net>, row: PendingRow): void {
  const key = keyOf(row);
  const net = nets.get(key) ?? new Map<string, PendingRow>();
  nets.set(key, net);
  addTo(net, row);
}

/** A row that replaces hides what is stored; another one is hidden by it. */
function addTo(net: Net, row: PendingRow): void {
  if (row.replaces || !net.has(row.index)) net.set(row.index, row);
}

/** One row for each index value: the last that replaces, or else the first. */
export function netOf(rows: readonly PendingRow[]): readonly PendingRow[] {
  const net: Net = new Map();
  for (const row of rows) addTo(net, row);
  return [...net.values()];
}

/** The same by key, whatever the order of the rows. */
export function netByKey(rows: readonly PendingRow[]): Map<string, Net> {
  const nets = new Map<string, Net>();
  for (const row of rows.toSorted((a, b) => a.sequence - b.sequence)) addByKey(nets, row);
  return nets;
}

export function ofKeys(
  nets: ReadonlyMap<string, Net>,
  keys?: readonly string[],
): readonly PendingRow[] {
  const wanted = keys === undefined ? nets.values() : keys.map((key) => nets.get(key));
  return [...wanted].flatMap((net) => (net === undefined ? [] : [...net.values()]));
}
