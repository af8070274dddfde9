// The measurements at the end of each simulated day, as a table, and the verdict on them.
import { median } from '../../bench/base/measure.ts';
import {
  type Bound,
  both,
  type Column,
  markdownOf,
  megabytes,
  trendOf,
  type Verdict,
} from './trend.ts';

export interface DayEntry {
  readonly day: number;
  readonly records: number;
  readonly rssServer: number;
  readonly rssTree: number;
  readonly heapBytes: number;
  readonly lakeFiles: number;
  readonly filesLive: number;
  readonly lakeBytes: number;
  readonly snapshots: number;
  readonly catalogBytes: number;
  readonly catalogRows: number;
  /** Milliseconds of each read by the number of its rows. */
  readonly reads: ReadonlyMap<number, readonly number[]>;
  readonly pushes: readonly number[];
  readonly loadMs: number;
  /** Milliseconds of each run of the timers. */
  readonly ticks: readonly number[];
  readonly rowsByTable: Readonly<Record<string, number>>;
}

const readsOf = (entry: DayEntry, rows: number): readonly number[] => entry.reads.get(rows) ?? [];

const COLUMNS: readonly Column<DayEntry>[] = [
  ['day', ({ day }) => String(day)],
  ['records', ({ records }) => String(records)],
  ['server / tree MB', (one) => `${megabytes(one.rssServer)} / ${megabytes(one.rssTree)}`],
  ['heap MB', ({ heapBytes }) => megabytes(heapBytes)],
  ['files live / all', ({ filesLive, lakeFiles }) => `${filesLive} / ${lakeFiles}`],
  ['lake MB', ({ lakeBytes }) => megabytes(lakeBytes)],
  ['versions', ({ snapshots }) => String(snapshots)],
  ['catalog MB', ({ catalogBytes }) => (catalogBytes / 1024 ** 2).toFixed(1)],
  ['catalog rows', ({ catalogRows }) => String(catalogRows)],
  ['last 1 ms', (entry) => both(readsOf(entry, 1))],
  ['last 30 ms', (entry) => both(readsOf(entry, 30))],
  ['last 252 ms', (entry) => both(readsOf(entry, 252))],
  ['push ms', ({ pushes }) => both(pushes)],
  ['load ms', ({ loadMs }) => loadMs.toFixed(0)],
  ['upkeep ms', ({ ticks }) => both(ticks)],
];

/** Every n-th day and the last one, as Markdown. */
export function tableOf(entries: readonly DayEntry[], everyDays: number): string {
  const shownEntries = entries.filter(
    (entry, at) => at % everyDays === 0 || entry.day === entries.at(-1)?.day,
  );
  return markdownOf(shownEntries, COLUMNS);
}

/** History still fills up in the first third: its retention is reached after five days. */
const HISTORY_MOST = 2;

const BOUNDS: readonly Bound<DayEntry>[] = [
  { name: 'files that are read', of: (one) => one.filesLive, most: 2, counted: true },
  { name: 'files of the lake', of: (one) => one.lakeFiles, most: HISTORY_MOST, counted: true },
  { name: 'versions', of: (one) => one.snapshots, most: HISTORY_MOST, counted: true },
  { name: 'rows of the catalog', of: (one) => one.catalogRows, most: HISTORY_MOST, counted: true },
  { name: 'heap in use', of: (one) => one.heapBytes, most: 1.5, counted: false },
  { name: 'memory of the server', of: (one) => one.rssServer, most: 1.5, counted: false },
  { name: 'memory of the tree', of: (one) => one.rssTree, most: 1.5, counted: false },
  { name: 'read of 1', of: (one) => median(readsOf(one, 1)), most: 1.5, counted: false },
  { name: 'read of 30', of: (one) => median(readsOf(one, 30)), most: 1.5, counted: false },
  { name: 'read of 252', of: (one) => median(readsOf(one, 252)), most: 1.5, counted: false },
  { name: 'push', of: (one) => median(one.pushes), most: 1.5, counted: false },
];

export const verdictOf = (entries: readonly DayEntry[]): Verdict => trendOf(entries, BOUNDS);
