// What is written down at the end of each simulated day, as a table, and the verdict over it.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { median, p99 } from '../../bench/measure.ts';

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
  /** Milliseconds of each look of the timers. */
  readonly ticks: readonly number[];
  readonly rowsByTable: Readonly<Record<string, number>>;
}

/** Files of a folder, and their bytes. */
export function folderSize(folder: string): { readonly files: number; readonly bytes: number } {
  let [files, bytes] = [0, 0];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    files += 1;
    bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return { files, bytes };
}

const megabytes = (bytes: number): string => (bytes / 1024 ** 2).toFixed(0);
const both = (times: readonly number[]): string =>
  `${median(times).toFixed(1)} / ${p99(times).toFixed(1)}`;
const readsOf = (entry: DayEntry, rows: number): readonly number[] => entry.reads.get(rows) ?? [];

type Column = readonly [name: string, value: (entry: DayEntry) => string];

const COLUMNS: readonly Column[] = [
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
  const shown = entries.filter(
    (entry, at) => at % everyDays === 0 || entry.day === entries.at(-1)?.day,
  );
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  const heading = line(COLUMNS.map(([name]) => name)) + line(COLUMNS.map(() => '---'));
  return heading + shown.map((entry) => line(COLUMNS.map(([, value]) => value(entry)))).join('');
}

interface Bound {
  readonly name: string;
  readonly of: (entry: DayEntry) => number;
  /** The last third may be so many times the first. */
  readonly most: number;
  /** What is counted is the same on every machine: only that may fail. */
  readonly counted: boolean;
}

/** History still fills up in the first third: what is kept of it is full after five days. */
const HISTORY_MOST = 2;

const BOUNDS: readonly Bound[] = [
  { name: 'files that are read', of: (one) => one.filesLive, most: 2, counted: true },
  { name: 'files of the lake', of: (one) => one.lakeFiles, most: HISTORY_MOST, counted: true },
  { name: 'versions', of: (one) => one.snapshots, most: HISTORY_MOST, counted: true },
  { name: 'rows of the catalog', of: (one) => one.catalogRows, most: HISTORY_MOST, counted: true },
  { name: 'heap that is held', of: (one) => one.heapBytes, most: 1.5, counted: false },
  { name: 'memory of the server', of: (one) => one.rssServer, most: 1.5, counted: false },
  { name: 'memory of the tree', of: (one) => one.rssTree, most: 1.5, counted: false },
  { name: 'read of 1', of: (one) => median(readsOf(one, 1)), most: 1.5, counted: false },
  { name: 'read of 30', of: (one) => median(readsOf(one, 30)), most: 1.5, counted: false },
  { name: 'read of 252', of: (one) => median(readsOf(one, 252)), most: 1.5, counted: false },
  { name: 'push', of: (one) => median(one.pushes), most: 1.5, counted: false },
];

interface Verdict {
  readonly lines: readonly string[];
  /** Counts that grew past their bound. */
  readonly failures: readonly string[];
}

/** The medians of the last third of the days against those of the first. */
export function verdictOf(entries: readonly DayEntry[]): Verdict {
  const third = Math.max(1, Math.floor(entries.length / 3));
  const judged = BOUNDS.map(({ name, of, most, counted }) => {
    const first = median(entries.slice(0, third).map(of));
    const last = median(entries.slice(-third).map(of));
    const ratio = last / first;
    const line = `${name}: last third / first third ${ratio.toFixed(2)}, at most ${most}`;
    return { line, counted, kept: ratio <= most };
  });
  return {
    lines: judged.map(({ line, kept }) => (kept ? line : `${line}: NOT KEPT`)),
    failures: judged.filter(({ counted, kept }) => counted && !kept).map(({ line }) => line),
  };
}
